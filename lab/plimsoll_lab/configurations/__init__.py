"""Configurations: a global configuration service over three tools, after the report on IBM's CLM 6.0.

    rootservices   the address of the whole; says where the others are, and watches them         port P
    gc             global components, streams, baselines and what contributes to them             P+1
    rm             requirements, versioned                                                        P+2
    qm             test cases, versioned                                                          P+3
    cm             defects, not versioned                                                         P+4
    jts            who is who: login, and the check of every request through a tool's proxy       P+5

Each is a process of its own with data of its own. A global configuration is a hierarchy: it holds local streams and
baselines of the tools, and other global configurations. Whoever works in one has it resolved into local ones: a tool
asks gc for that, and its `…/proxy/gc/…` asks jts first whether the token is good, as the product's does.

What changes in gc, rm, qm and cm is published as a tracked resource set (OSLC TRS: base and change log), which the
lab's `links` indexes. Known defects, off by default: `--resolve-each`, `--recount-artifacts`, `--shared-cpu`.
"""
