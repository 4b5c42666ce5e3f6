//! QuickJS' list of jobs (`list.h`): circular, with a head that holds no job. A VU that suspends takes its jobs out of the
//! list and puts them back. Nothing here calls QuickJS, so that Miri can check it (`make miri`).

/// The links of a job or of the head.
#[repr(C)]
pub struct Link {
    previous: *mut Link,
    next: *mut Link,
}

/// Jobs that were taken out: linked with each other and with nothing else.
pub struct Jobs {
    first: *mut Link,
    last: *mut Link,
}

/// Empties the list; nothing if it was empty.
///
/// # Safety
/// `head` is the head of a well-formed list, which nobody else uses meanwhile.
pub unsafe fn take(head: *mut Link) -> Option<Jobs> {
    // SAFETY: by the contract of this function.
    unsafe {
        let jobs = Jobs { first: (*head).next, last: (*head).previous };
        if jobs.first == head {
            return None;
        }
        ((*head).next, (*head).previous) = (head, head);
        Some(jobs)
    }
}

/// Puts jobs into an empty list.
///
/// # Safety
/// `head` is the head of an empty list, which nobody else uses meanwhile, and the jobs still exist.
pub unsafe fn put_back(head: *mut Link, jobs: &Jobs) {
    // SAFETY: by the contract of this function; `jobs` came from `take`, so that its links are a chain from first to last.
    unsafe {
        ((*head).next, (*head).previous) = (jobs.first, jobs.last);
        (*jobs.first).previous = head;
        (*jobs.last).next = head;
    }
}

/// Sets a word of the first job, counted from its links.
///
/// # Safety
/// `head` is the head of a list with a job, which nobody else uses meanwhile; the job has that word.
pub unsafe fn set_word_of_first(head: *mut Link, word: usize, value: usize) {
    // SAFETY: by the contract of this function.
    unsafe { (*head).next.cast::<usize>().add(word).write(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list with so many jobs; the head is the first element.
    fn list(jobs: usize) -> Vec<*mut Link> {
        let made = || {
            Box::into_raw(Box::new(Link {
                previous: std::ptr::null_mut(),
                next: std::ptr::null_mut(),
            }))
        };
        let links: Vec<*mut Link> = (0..=jobs).map(|_| made()).collect();
        for (at, link) in links.iter().enumerate() {
            // SAFETY: each was just allocated, and `end` frees them.
            unsafe {
                (**link).next = links[(at + 1) % links.len()];
                (**link).previous = links[(at + links.len() - 1) % links.len()];
            }
        }
        links
    }

    fn end(links: Vec<*mut Link>) {
        for link in links {
            // SAFETY: made by `list`, freed once.
            drop(unsafe { Box::from_raw(link) });
        }
    }

    /// The places of the links in the order of the list, forwards and backwards.
    fn order(links: &[*mut Link]) -> (Vec<usize>, Vec<usize>) {
        let walk = |step: fn(&Link) -> *mut Link| {
            let following = std::iter::successors(Some(links[0]), |link| {
                // SAFETY: all links live until `end`.
                let next = step(unsafe { &**link });
                Some(next).filter(|next| *next != links[0])
            });
            following.filter_map(|link| links.iter().position(|known| *known == link)).collect()
        };
        (walk(|link| link.next), walk(|link| link.previous))
    }

    #[test]
    fn a_word_of_the_first_job_is_set() {
        let mut jobs = [[0_usize; 4]; 2];
        let [first, second] = jobs.each_mut().map(|job| job.as_mut_ptr().cast::<Link>());
        let mut head = Link { previous: second, next: first };
        // SAFETY: `head` has a first job of four words, and both are this test's.
        unsafe { set_word_of_first(&mut head, 3, 7) };
        assert_eq!(jobs, [[0, 0, 0, 7], [0; 4]]);
    }

    #[test]
    fn jobs_that_were_taken_come_back_in_their_order() {
        for jobs in 0..4 {
            let links = list(jobs);
            let before = order(&links);
            // SAFETY: the list is well formed and nobody else's.
            let taken = unsafe { take(links[0]) };
            assert_eq!(taken.is_some(), jobs > 0);
            assert_eq!(order(&links), (vec![0], vec![0]), "the list is empty meanwhile");
            if let Some(taken) = taken {
                // SAFETY: the list is empty, and the jobs live.
                unsafe { put_back(links[0], &taken) };
            }
            assert_eq!(order(&links), before);
            end(links);
        }
    }
}
