"""A Java virtual machine beside the load: heap, garbage collections, threads.

`attach`: what jcmd asks, of a process of this host; `counters`: the counters that it keeps in a file for jstat;
`local`: the probe of both; `jolokia`: the probe of a page of JMX values. What jmx_exporter and Micrometer tell is read
by `probes/prometheus/`.
"""
