"""Pure statistics: arrays in, dataclasses out; no clock, no files, nothing of the rest of Plimsoll.

saturation.py   does unfinished work grow within a step faster than chance allows
plateau.py      capacity as the throughput of steps in which the target was always busy
knee.py         where more load costs more response time than it brings throughput
covariate.py    does an operation cost more as the data grows
flattening.py   where more load stops bringing more throughput, from one number a level
demand.py       service demand of a resource, and the throughput at its budget
cell_ratios.py  which way the cells of two tables of single runs point
littles_law.py  do users, throughput and response time agree
trend.py        slope of a series with an interval
log_ratio.py    how much slower is B than A, from one value a trial
multiple_comparisons.py    which of many comparisons chance does not explain
pairs_needed.py power of a paired comparison, and the pairs that settle it
outliers.py     values far from the rest
shares.py       shares of layers that add up to the whole
power_law.py    y = a xᵇ, where the data have that form
wilson.py       interval of a share
quantile.py     when a quantile has enough samples, and its interval by ranks
"""
