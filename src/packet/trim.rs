//! The rule that keeps the feedback tail small: identical failures fold into one with a count; if there are still too
//! many, the newest unresolved ones stay, then the newest resolved ones. The last records always stay.

/// A record that stays, by its place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub index: usize,
    pub failure: bool,
    /// Among the last records, whatever they are.
    pub recent: bool,
    /// A later run of the same succeeded.
    pub resolved: bool,
    pub times: u64,
}

/// Folds and cuts to `limit`; the rest's count of failures.
pub(super) fn to_limit(
    kept: Vec<Kept>,
    limit: usize,
    same: impl Fn(usize, usize) -> bool,
) -> (Vec<Kept>, u64) {
    let mut entries = if kept.len() > limit { fold(kept, same) } else { kept };
    if entries.len() <= limit {
        return (entries, 0);
    }
    let mut order: Vec<usize> = (0..entries.len()).collect();
    // the last records first, then unresolved failures, then resolved ones; of each the newest first
    order.sort_by_key(|at| {
        let entry = &entries[*at];
        (!entry.recent, entry.resolved, std::cmp::Reverse(entry.index))
    });
    let gone: Vec<usize> = order.split_off(limit);
    let left_out = gone.iter().filter(|at| entries[**at].failure).map(|at| entries[*at].times).sum();
    let mut position = 0;
    entries.retain(|_| {
        position += 1;
        !gone.contains(&(position - 1))
    });
    (entries, left_out)
}

/// One entry for each kind of failure, at the place of the newest.
fn fold(kept: Vec<Kept>, same: impl Fn(usize, usize) -> bool) -> Vec<Kept> {
    let mut out: Vec<Kept> = Vec::with_capacity(kept.len());
    for entry in kept.into_iter().rev() {
        let twin =
            entry.failure.then(|| out.iter_mut().find(|have| have.failure && same(have.index, entry.index)));
        match twin.flatten() {
            Some(have) => have.times += entry.times,
            None => out.push(entry),
        }
    }
    out.reverse();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(index: usize, resolved: bool) -> Kept {
        Kept { index, failure: true, recent: false, resolved, times: 1 }
    }

    #[test]
    fn identical_failures_fold_before_anything_is_left_out() {
        let kept = (0..40).map(|index| failure(index, false)).collect();
        let (entries, left_out) = to_limit(kept, 30, |one, two| one % 2 == two % 2);
        assert_eq!(
            entries.iter().map(|entry| (entry.index, entry.times)).collect::<Vec<_>>(),
            [(38, 20), (39, 20)]
        );
        assert_eq!(left_out, 0);
    }

    #[test]
    fn the_newest_unresolved_stay() {
        let mut kept: Vec<Kept> = (0..10).map(|index| failure(index, index % 2 == 0)).collect();
        kept.push(Kept { index: 10, failure: false, recent: true, resolved: false, times: 1 });
        let (entries, left_out) = to_limit(kept, 4, |_, _| false);
        assert_eq!(entries.iter().map(|entry| entry.index).collect::<Vec<_>>(), [5, 7, 9, 10]);
        assert_eq!(left_out, 7);
    }
}
