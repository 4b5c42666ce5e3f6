//! What this machine lets the generator do: memory, open files, local ports, processors.

use std::fs;
use std::os::fd::RawFd;
use std::path::Path;

/// A VU's memory with room for what its script keeps (docs/bench.md has the measurement).
const VU_BYTES: u64 = 128 << 10;

/// Files that connections leave to the run directory, scripts and probes while these go on; as many are open from the start.
const FILES_OF_THE_RUN: RawFd = 16;

/// The VU cap when a script states none, with the limits it came from.
#[derive(Clone, Debug)]
pub struct VuCap {
    pub vus: u64,
    pub reason: String,
}

/// The least of half the free memory per VU, 80 % of the open files and 80 % of the local ports.
pub fn vu_cap() -> VuCap {
    let by_memory = free_memory_bytes().map_or(u64::MAX, |bytes| bytes / 2 / VU_BYTES);
    let by_files = raise_open_files().saturating_sub(2 * FILES_OF_THE_RUN as u64) / 5 * 4;
    let by_ports = local_ports() / 5 * 4;
    let vus = by_memory.min(by_files).min(by_ports).max(1);
    let reason = format!("{by_memory} by half of the free memory, {by_files} by 80% of the open files, {by_ports} by 80% of the local ports");
    VuCap { vus, reason }
}

/// What the machine has left, or the container if that is less.
pub fn free_memory_bytes() -> Option<u64> {
    let of_cgroups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left =
        of_cgroups.lines().filter_map(|line| left_in_cgroup(Path::new("/sys/fs/cgroup"), line));
    free_memory_of_machine().into_iter().chain(left).min()
}

/// The pieces of address space that a process may have.
pub fn most_memory_maps() -> Option<u64> {
    fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}

/// The memory that is left to a line of /proc/self/cgroup (version 1 or 2), by the strictest of its outer groups.
fn left_in_cgroup(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
    let (root, limit, used) = match controllers {
        "" => (root.to_owned(), "memory.max", "memory.current"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
        }
        _ => return None,
    };
    let number = |folder: &Path, name| {
        fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok()
    };
    let group = root.join(path);
    let groups = group.ancestors().take_while(|folder| folder.starts_with(&root));
    groups
        .filter_map(|folder| Some(number(folder, limit)?.saturating_sub(number(folder, used)?)))
        .min()
}

fn free_memory_of_machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

fn open_files_limit() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the result.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } == 0;
    known.then_some(limit)
}

/// The highest number that a connection's file may have, so that the run can still write what it measures.
pub fn last_file_of_connections() -> RawFd {
    let allowed = open_files_limit().map_or(u64::MAX, |limit| limit.rlim_cur);
    RawFd::try_from(allowed).unwrap_or(RawFd::MAX).saturating_sub(FILES_OF_THE_RUN + 1)
}

/// Raises the soft limit of open files to the hard one, and says what it is then.
fn raise_open_files() -> u64 {
    let Some(mut limit) = open_files_limit() else {
        return 1024;
    };
    let soft = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: raising the soft limit within the hard one; on failure the old one stays.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } == 0 {
        limit.rlim_cur
    } else {
        soft
    }
}

fn local_ports() -> u64 {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut ends = range.split_whitespace().filter_map(|end| end.parse::<u64>().ok());
    match (ends.next(), ends.next()) {
        (Some(low), Some(high)) if high > low => high - low,
        _ => 28_000,
    }
}

/// User and system time of this process in seconds.
pub fn process_cpu_s() -> f64 {
    // SAFETY: an all-zero rusage is valid, and the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

pub fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 =
        text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}

pub fn open_files() -> u64 {
    // Since Linux 6.2 the size of the folder is the number of open files, which spares counting thousands each second.
    match fs::metadata("/proc/self/fd").map(|folder| folder.len()) {
        Ok(count) if count > 0 => count,
        _ => fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64),
    }
}

/// Keeps the kernel from handing out huge pages while it lives: clearing 2 MiB at once for every ninth new VU would
/// hold up a thread's arrivals for a millisecond or more.
pub struct SmallPages {
    changed: bool,
}

impl SmallPages {
    #[cfg(target_os = "linux")]
    pub fn only() -> Self {
        // SAFETY: plain system calls that read and set a flag of this process.
        let changed = unsafe {
            libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
        };
        Self { changed }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn only() -> Self {
        Self { changed: false }
    }
}

impl Drop for SmallPages {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if self.changed {
            // SAFETY: as above.
            unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 0, 0, 0, 0) };
        }
    }
}

/// Lets the calling thread step back behind those that make the load, where they share a processor.
pub fn step_back() {
    // SAFETY: a plain system call; on Linux it concerns the calling thread alone. Lower priority needs no privilege.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, 10);
    }
}

/// Pins the calling thread to a processor; where that is not permitted it runs where it may.
pub fn pin_thread(cpu: usize) {
    // SAFETY: an all-zero set is valid; the call reads it only.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_to_a_container_is_the_least_of_its_groups() {
        let root = std::env::temp_dir().join(format!("plimsoll-cgroups-{}", std::process::id()));
        let write = |folder: &str, name: &str, text: &str| {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join(name), text).unwrap();
        };
        for (folder, limit, used) in [("pod/app", "max\n", "100\n"), ("pod", "5000\n", "1200\n")] {
            write(folder, "memory.max", limit);
            write(folder, "memory.current", used);
        }
        assert_eq!(left_in_cgroup(&root, "0::/pod/app"), Some(3800));
        write("memory/app", "memory.limit_in_bytes", "1000\n");
        write("memory/app", "memory.usage_in_bytes", "1500\n");
        assert_eq!(left_in_cgroup(&root, "7:memory:/app"), Some(0));
        for line in ["3:cpu,cpuacct:/app", "0::/elsewhere", "", "nonsense"] {
            assert_eq!(left_in_cgroup(&root, line), None, "{line}");
        }
        fs::remove_dir_all(root).unwrap();
    }
}
