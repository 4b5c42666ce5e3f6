"""Pure statistics: arrays in, dataclasses out; no clock, no files, nothing of the rest of Plimsoll.

Each formula, its source, what it assumes and what breaks it: docs/measurement.md, "Every formula".

throughput/  What a target does at each level
saturation.py   does unfinished work grow within a step faster than chance allows
bracket.py      highest good and lowest bad level of steps that may contradict each other
plateau.py      capacity as the throughput of steps in which the target was always busy
host_speed.py   how the speed of a drifting host enters what a target finishes
knee.py         where more load costs more response time than it brings throughput
top_of_curve.py the most that throughput against level reaches, from noisy points
scalability.py  the universal scalability law, and how far its peak is known
asymptotes.py   bounds of throughput from the largest demand and one user's round
concave.py      which concave curve is nearest to throughput at levels
flattening.py   where more load stops bringing more throughput, from one number a level
littles_law.py  do users, throughput and response time agree
demand.py       service demand of a resource, and the throughput at its budget
demand_curve.py the same where demand changes with load, and what another throughput uses

growth/  What changes with time or with the volume of data
covariate.py     does an operation cost more as the data grows
space.py         memory or disk, as load, time or the number of items grows
drift.py         slope of a series whose neighbours depend on each other
trend.py         slope of a series of independent values with an interval
growth_family.py which family of curves a cost follows as the data grows
cliff.py         a volume of data from which on a cost is higher at once
load_forecast.py how long loading the rest will take
power_law.py     y = a xᵇ, where the data have that form

pulses/  What comes back, or comes in bursts
periodic.py       pulses that come back, in noise that remembers
regular_stalls.py do a few stark stalls come back at even gaps
bursts.py         do failures gather in time

consumption/  A consumer and what an item costs it
keeping_up.py  does a consumer keep up with what comes in
poll_rate.py   a consumer's rate while it works, from its polls
item_demand.py how much CPU an item costs that comes in and is worked on later

estimates/  One quantity with its interval
quantile.py        how many samples show a quantile
quantile_test.py   whether a quantile, or a share of failures, is below a limit: exact, and asked at any time
effective_count.py how many independent values the values of a load are worth
objective_test.py  whether a load meets an objective on a percentile, a mean, a maximum or failures
block_quantile.py  interval of a quantile where the values depend on each other
batch_ratio.py     interval of a rate, a mean or a share likewise, from batches of time
wilson.py          interval of a share
mean_interval.py   within what does the mean of a few values lie

comparison/  Comparing
rank_shift.py           did values become greater, by ranks
log_ratio.py            how much slower is B than A, from one value a trial
multiple_comparisons.py which of many comparisons chance does not explain
pairs_needed.py         power of a paired comparison, and the pairs that settle it
outliers.py             values far from the rest
cell_ratios.py          which way the cells of two tables of single runs point
shares.py               shares of layers that add up to the whole
"""
