"""What to do about each limit of the generator's machine: the same words before a run (doctor) and after it."""

from __future__ import annotations

OPEN_FILES = "Raise the limit of open files (ulimit -n 65536, or LimitNOFILE= of the service), or use fewer VUs."
MORE_VUS = (
    "Free memory, raise the limit of open files (ulimit -n) or widen the local ports; or spread the VUs over several "
    "machines (executionSegment)."
)
LOCAL_PORTS = (
    "Keep connections open between requests (leave noConnectionReuse and noVUConnectionReuse out), widen the range "
    "(sysctl -w net.ipv4.ip_local_port_range='1024 65535'), or send from more addresses (--local-ips)."
)
NAMES = (
    "Check the host in the URL and this machine's name server (/etc/resolv.conf), or give the address in the option "
    "hosts."
)
LOOKUPS = (
    "Keep connections open between requests, keep answers of the name server (dns: { ttl: 'inf' }), or give the "
    "address in the option hosts."
)
TIME_WAIT = (
    "Wait a minute, keep connections open between requests, or let ports be used again "
    "(sysctl -w net.ipv4.tcp_tw_reuse=1)."
)
QUOTA = "Give the container at least as many whole cores as the generator has threads, or take its CPU quota off."
STEAL = "Move to a quieter host, or to a machine with cores of its own."
OWN_CORES = (
    "Stop what else runs on this machine, give the generator cores of its own (taskset), "
    "or run it on another machine than the target."
)
STOOD_STILL = (
    "Run it again where nothing stops or pauses the generator: no docker pause, no migration of the virtual machine, "
    "and cores of its own."
)
CLOCK = "Let the clock be set slowly (chronyd, ntpd without jumps) while a load runs."
MEMORY = "Use fewer VUs, set discardResponseBodies, stop what else runs here, or take a machine with more memory."


def cheaper_script(threads: int, cores: float) -> str:
    """What to do about a script that computes long."""
    cheaper = (
        "Make the script cheaper: parse data once, in the init context or a SharedArray, and read only what you need "
        "of a response."
    )
    return f"{cheaper} {fewer_vus_a_thread(threads, cores)}"


def fewer_vus_a_thread(threads: int, cores: float) -> str:
    """What to do about VUs that keep each other waiting."""
    if cores >= threads + 1:
        return f"Let fewer VUs share a thread (--threads {int(cores)})."
    return "Let fewer VUs share a thread: take a machine with more cores, or several (executionSegment)."


def more_threads(threads: int, cores: float) -> str:
    """What to do about threads that are full."""
    if cores >= threads + 1:
        return f"Give the engine more threads (--threads {int(cores)}): this process may use {cores:g} cores."
    return (
        "Make the script cheaper, take a machine with more cores, or spread the load over several (executionSegment)."
    )
