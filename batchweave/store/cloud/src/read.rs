//! Reads of objects, each one attempt, besides the hedges of what is slow.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::{select, Either};
use futures_util::stream::{self, StreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult};

use crate::calls::{path_of, run, too_slow};
use crate::connector::Trace;
use crate::hedge::Hedges;
use crate::open::{Backend, Handle};
use crate::verdict::{judge, Call, Code, Failure};

/// As kReadBlockBytes in object_store.h.
const READ_BLOCK_BYTES: usize = 512 << 10;
/// A larger read is made in parts.
const SPLIT_ABOVE_BYTES: usize = 16 << 20;
const PART_BYTES: usize = 8 << 20;
/// A connection to a cloud store gives some 100 MB/s, and a host takes more.
const PARTS_AT_ONCE: usize = 8;
/// Of one call, a connection each: what a committer needs to read what 10,000 producers announce (docs/commit-control.md).
const READS_AT_ONCE: usize = 256;

/// Memory of the caller, who waits until nobody uses it any more.
#[derive(Clone, Copy)]
pub struct Target {
    pub buffer: *mut u8,
    pub size: usize,
    pub observer: *mut std::ffi::c_void,
    pub on_bytes: Option<extern "C" fn(*mut std::ffi::c_void, *const u8, usize)>,
}

// SAFETY: one task uses it at a time, and the caller waits for that task.
unsafe impl Send for Target {}
unsafe impl Sync for Target {}

impl Target {
    /// Copies `bytes` to `at`, and tells the observer.
    fn take(&self, at: usize, bytes: &[u8]) {
        for (index, block) in bytes.chunks(READ_BLOCK_BYTES).enumerate() {
            let at = at + index * READ_BLOCK_BYTES;
            // SAFETY: the caller of this has checked that at + bytes.len() <= size.
            unsafe { std::ptr::copy_nonoverlapping(block.as_ptr(), self.buffer.add(at), block.len()) };
            self.tell(at, block.len());
        }
    }

    /// Tells the observer of what lies there already.
    fn tell(&self, at: usize, size: usize) {
        let Some(on_bytes) = self.on_bytes else { return };
        for begin in (at..at + size).step_by(READ_BLOCK_BYTES) {
            // SAFETY: as above.
            on_bytes(self.observer, unsafe { self.buffer.add(begin) }, READ_BLOCK_BYTES.min(at + size - begin));
        }
    }

    /// The part [at, at + size), of which nobody is told.
    fn part(&self, at: usize, size: usize) -> Target {
        // SAFETY: as above.
        Target { buffer: unsafe { self.buffer.add(at) }, size, observer: std::ptr::null_mut(), on_bytes: None }
    }
}

pub struct RangeRead {
    pub key: String,
    pub offset: u64,
    pub target: Target,
}

/// What the reads of one call share.
#[derive(Clone)]
struct Reader {
    store: Arc<dyn Backend>,
    hedges: Arc<Hedges>,
    limit: Duration,
}

/// The number of bytes of each read, none where it failed; and why the first of those did.
pub struct Got {
    pub received: Vec<Option<usize>>,
    pub failure: Option<Failure>,
}

/// All of `reads`, many at once.
pub fn get(handle: &Handle, reads: Vec<RangeRead>) -> Result<Got, Failure> {
    let reader =
        Reader { store: handle.client()?.store.clone(), hedges: handle.hedges.clone(), limit: handle.request_limit };
    let mut tasks = Vec::new();
    for read in reads {
        tasks.push((path_of(handle, &read.key)?, read));
    }
    run(handle, Code::Unavailable, async move {
        // Every task is waited for: they write to the caller's memory.
        let mut results = stream::iter(tasks)
            .map(|(path, read)| {
                let reader = reader.clone();
                tokio::spawn(async move { reader.read(&path, read.offset, read.target).await })
            })
            .buffered(READS_AT_ONCE);
        let mut got = Got { received: Vec::new(), failure: None };
        while let Some(result) = results.next().await {
            let result = result.unwrap_or_else(|_| Err(Failure::new(Code::Unavailable, "the client failed")));
            match result {
                Ok(size) => got.received.push(Some(size)),
                Err(failure) => {
                    got.received.push(None);
                    // What will not pass tells more than what may.
                    let passes = |known: &Failure| matches!(known.code, Code::Unavailable);
                    if got.failure.as_ref().is_none_or(|known| passes(known) && !passes(&failure)) {
                        got.failure = Some(failure);
                    }
                }
            }
        }
        Ok(got)
    })
}

impl Reader {
    async fn read(&self, path: &Path, offset: u64, target: Target) -> Result<usize, Failure> {
        if target.size == 0 || offset > i64::MAX as u64 - target.size as u64 {
            // No such range can be asked for, but the object must be there.
            return stat_path(&*self.store, path, self.limit).await.map(|_| 0);
        }
        if target.size <= SPLIT_ABOVE_BYTES {
            return self.read_hedged(path, offset, target).await;
        }
        let parts = (0..target.size).step_by(PART_BYTES).map(|at| (at, PART_BYTES.min(target.size - at)));
        let mut results = stream::iter(parts)
            .map(|(at, size)| async move {
                let received = self.read_hedged(path, offset + at as u64, target.part(at, size)).await?;
                Ok::<_, Failure>((at, size, received))
            })
            .buffered(PARTS_AT_ONCE);
        let mut total = 0;
        let mut ended = false;
        while let Some(result) = results.next().await {
            let (at, size, received) = result?;
            if ended && received > 0 {
                return Err(Failure::new(Code::Unavailable, "a short answer in the middle of an object"));
            }
            ended = ended || received < size;
            target.tell(at, received);
            total += received;
        }
        Ok(total)
    }

    /// One range, asked for a second time where the answer takes unusually long: who is first counts.
    async fn read_hedged(&self, path: &Path, offset: u64, target: Target) -> Result<usize, Failure> {
        let slow_after = self.hedges.begin(target.size);
        let begun = Instant::now();
        let received = AtomicUsize::new(0);
        let first = self.read_once(path, offset, target.size, |bytes| {
            target.take(received.fetch_add(bytes.len(), Ordering::Relaxed), bytes);
        });
        let mut first = std::pin::pin!(first);
        let early = match slow_after {
            Some(delay) => tokio::time::timeout(delay, &mut first).await.ok(),
            None => Some(first.as_mut().await),
        };
        let result = match early {
            Some(result) => result,
            None if !self.hedges.take() => first.await,
            None => {
                let mut bytes = Vec::new();
                let second = self.read_once(path, offset, target.size, |piece| bytes.extend_from_slice(piece));
                let winner = match select(first, std::pin::pin!(second)).await {
                    Either::Left((result, _)) => Either::Left(result),
                    Either::Right((Ok(size), _)) => Either::Right(size),
                    Either::Right((Err(_), first)) => Either::Left(first.await),
                };
                match winner {
                    Either::Left(result) => result,
                    // Nobody writes to the target any more: the first one waits for ever, or ends without being asked.
                    Either::Right(size) => {
                        let had = received.load(Ordering::Relaxed).min(size);
                        target.take(had, &bytes[had..]);
                        Ok(size)
                    }
                }
            }
        };
        if result.is_ok() {
            self.hedges.end(target.size, begun.elapsed());
        }
        result
    }

    async fn read_once(
        &self,
        path: &Path,
        offset: u64,
        size: usize,
        mut take: impl FnMut(&[u8]) + Send,
    ) -> Result<usize, Failure> {
        let trace = Trace::default();
        let range = Some(GetRange::Bounded(offset..offset + size as u64));
        let options = GetOptions { range, extensions: trace.extensions(), ..GetOptions::default() };
        // The crate checks the status, and that Content-Range is what was asked for.
        let result = match answer(self.store.get_opts(path, options), self.limit, &trace).await {
            Ok(result) => result,
            Err(_) if trace.fate().status == Some(416) => return Ok(0),
            // Azurite gives 206 to what begins at the end.
            Err(failure) if failure.message.contains("Wanted range starting at") => {
                let size = stat_path(&*self.store, path, self.limit).await?;
                return if offset >= size { Ok(0) } else { Err(failure) };
            }
            Err(failure) => return Err(failure),
        };
        let expected = (result.range.end - result.range.start) as usize;
        let mut received = 0;
        each_chunk(result, self.limit, &trace, |bytes| {
            if received + bytes.len() > expected {
                return false;
            }
            take(bytes);
            received += bytes.len();
            true
        })
        .await?;
        if received != expected {
            let message = format!("a short answer: expected_bytes={expected} received_bytes={received}");
            return Err(Failure::new(Code::Unavailable, message));
        }
        Ok(received)
    }
}

/// The answer to a read of one object, without its body.
async fn answer<T>(
    request: impl Future<Output = object_store::Result<T>>,
    limit: Duration,
    trace: &Trace,
) -> Result<T, Failure> {
    match tokio::time::timeout(limit, request).await {
        Ok(result) => result.map_err(|error| judge(Call::Read, &error, &trace.fate())),
        Err(_) => Err(Failure::new(Code::Unavailable, too_slow(limit))),
    }
}

/// `take` returns false where there is more than there may be.
async fn each_chunk(
    result: GetResult,
    limit: Duration,
    trace: &Trace,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<(), Failure> {
    let mut body = result.into_stream();
    loop {
        match tokio::time::timeout(limit, body.next()).await {
            Ok(Some(Ok(bytes))) if take(&bytes) => {}
            Ok(Some(Ok(_))) => return Err(Failure::new(Code::Unavailable, "more bytes than were asked for")),
            Ok(Some(Err(error))) => {
                let failure = judge(Call::Read, &error, &trace.fate());
                return Err(Failure { code: Code::Unavailable, ..failure });
            }
            Ok(None) => return Ok(()),
            Err(_) => return Err(Failure::new(Code::Unavailable, too_slow(limit))),
        }
    }
}

/// The whole of an object, in pieces.
pub fn read(handle: &Handle, key: &str) -> Result<Vec<Bytes>, Failure> {
    let path = path_of(handle, key)?;
    let store = handle.client()?.store.clone();
    let limit = handle.request_limit;
    run(handle, Code::Unavailable, async move {
        let trace = Trace::default();
        let options = GetOptions { extensions: trace.extensions(), ..GetOptions::default() };
        let result = answer(store.get_opts(&path, options), limit, &trace).await?;
        let expected = result.meta.size;
        let mut pieces = Vec::new();
        each_chunk(result, limit, &trace, |bytes| {
            pieces.push(Bytes::copy_from_slice(bytes));
            true
        })
        .await?;
        let received: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
        if received != expected {
            let message = format!("a short answer: expected_bytes={expected} received_bytes={received}");
            return Err(Failure::new(Code::Unavailable, message));
        }
        Ok(pieces)
    })
}

pub fn stat(handle: &Handle, key: &str) -> Result<u64, Failure> {
    let path = path_of(handle, key)?;
    let store = handle.client()?.store.clone();
    let limit = handle.request_limit;
    run(handle, Code::Unavailable, async move { stat_path(&*store, &path, limit).await })
}

async fn stat_path(store: &dyn Backend, path: &Path, limit: Duration) -> Result<u64, Failure> {
    let trace = Trace::default();
    let options = GetOptions { head: true, extensions: trace.extensions(), ..GetOptions::default() };
    Ok(answer(store.get_opts(path, options), limit, &trace).await?.meta.size)
}
