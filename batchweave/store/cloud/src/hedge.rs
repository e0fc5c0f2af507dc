//! When a read is slow enough to be asked for a second time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::Duration;

/// Of the last reads of a class so many are looked at, and none is hedged before there were as many.
const SAMPLES: usize = 64;
/// Of these, sorted: the 95th percentile.
const PERCENTILE_INDEX: usize = SAMPLES * 95 / 100;
/// Below it there is nothing to win.
const DELAY_MIN: Duration = Duration::from_millis(20);
/// At most one of so many reads is hedged.
const READS_PER_HEDGE: u64 = 20;
/// A class holds the sizes of up to a power of two.
const CLASSES: usize = 64;

#[derive(Default)]
struct Class {
    durations: Vec<Duration>,
    next: usize,
}

/// Of one store. Safe for concurrent use.
pub struct Hedges {
    classes: [Mutex<Class>; CLASSES],
    reads: AtomicU64,
    hedged: AtomicU64,
}

impl Default for Hedges {
    fn default() -> Self {
        Hedges {
            classes: std::array::from_fn(|_| Mutex::default()),
            reads: AtomicU64::new(0),
            hedged: AtomicU64::new(0),
        }
    }
}

impl Hedges {
    fn class(&self, size: usize) -> &Mutex<Class> {
        &self.classes[(usize::BITS - size.leading_zeros()) as usize % CLASSES]
    }

    /// Notes that a read begins; after how long it is slow, where that is known.
    pub fn begin(&self, size: usize) -> Option<Duration> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let class = self.class(size).lock().unwrap();
        if class.durations.len() < SAMPLES {
            return None;
        }
        let mut sorted = class.durations.clone();
        drop(class);
        let (_, percentile, _) = sorted.select_nth_unstable(PERCENTILE_INDEX);
        Some(DELAY_MIN.max(*percentile))
    }

    /// Notes how long a read took.
    pub fn end(&self, size: usize, took: Duration) {
        let mut class = self.class(size).lock().unwrap();
        if class.durations.len() < SAMPLES {
            class.durations.push(took);
            return;
        }
        let next = class.next;
        class.durations[next] = took;
        class.next = (next + 1) % SAMPLES;
    }

    /// Whether one more read may be hedged; if so, it counts.
    pub fn take(&self) -> bool {
        let reads = self.reads.load(Ordering::Relaxed);
        let add = |hedged| ((hedged + 1) * READS_PER_HEDGE <= reads).then_some(hedged + 1);
        self.hedged.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    /// Reads and hedges up to now.
    pub fn counts(&self) -> (u64, u64) {
        (self.reads.load(Ordering::Relaxed), self.hedged.load(Ordering::Relaxed))
    }
}
