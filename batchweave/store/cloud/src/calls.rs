//! The calls of a store, each one attempt.

use std::future::Future;
use std::sync::{mpsc, Arc};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use object_store::list::PaginatedListOptions;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, GetResult, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use crate::connector::{Trace, CALL_TRACE};
use crate::open::{Backend, Handle, Kind};
use crate::verdict::{judge, Call, Code, Failure};

/// A transfer that is slower is given up.
const BYTES_PER_SECOND_MIN: u64 = 1 << 20;
/// What S3, GCS and Azure give at most in a page.
const PAGE_OBJECTS_MAX: usize = 1000;
/// As kReadBlockBytes in object_store.h.
const READ_BLOCK_BYTES: usize = 512 << 10;

/// Runs `future` on the handle's runtime and waits for its end: a future that borrows the caller's memory never
/// outlives this call.
fn run<T: Send + 'static>(
    handle: &Handle,
    lost: Code,
    future: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, receiver) = mpsc::sync_channel(1);
    handle.client()?.runtime.spawn(async move {
        // Nobody waits only where the process is about to end.
        let _ = sender.send(future.await);
    });
    receiver
        .recv()
        .unwrap_or_else(|_| Err(Failure::new(lost, "the client failed: see its message on the standard error")))
}

fn path_of(handle: &Handle, key: &str) -> Result<Path, Failure> {
    Path::parse(format!("{}{key}", handle.prefix))
        .map_err(|error| Failure::new(Code::InvalidArgument, error.to_string()))
}

fn too_slow(limit: Duration) -> String {
    format!("no answer within {:.1} s", limit.as_secs_f64())
}

pub fn put(handle: &Handle, key: &str, pieces: &[&[u8]], create: bool) -> Result<(), Failure> {
    let path = path_of(handle, key)?;
    // A copy: a request that was given up may hold its body a little longer than the caller does.
    let payload: PutPayload = pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect();
    let limit = handle.request_limit + Duration::from_secs(payload.content_length() as u64 / BYTES_PER_SECOND_MIN);
    let store = handle.client()?.store.clone();
    run(handle, Code::UnknownOutcome, async move {
        let trace = Trace::default();
        let mode = if create { PutMode::Create } else { PutMode::Overwrite };
        let options = PutOptions { mode, extensions: trace.extensions(), ..PutOptions::default() };
        match tokio::time::timeout(limit, store.put_opts(&path, payload, options)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(judge(if create { Call::Create } else { Call::Overwrite }, &error, &trace.fate())),
            Err(_) if trace.fate().sent => Err(Failure::new(Code::UnknownOutcome, too_slow(limit))),
            Err(_) => Err(Failure::new(Code::Unavailable, too_slow(limit))),
        }
    })
}

/// Memory of the caller, who waits until nobody uses it any more.
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
            // SAFETY: the caller of this has checked that at + bytes.len() <= size.
            let to = unsafe { self.buffer.add(at + index * READ_BLOCK_BYTES) };
            unsafe { std::ptr::copy_nonoverlapping(block.as_ptr(), to, block.len()) };
            if let Some(on_bytes) = self.on_bytes {
                on_bytes(self.observer, to, block.len());
            }
        }
    }
}

pub struct RangeRead {
    pub key: String,
    pub offset: u64,
    pub target: Target,
}

/// All of `reads`, at once; the number of bytes of each.
pub fn get(handle: &Handle, reads: Vec<RangeRead>) -> Result<Vec<usize>, Failure> {
    let store = handle.client()?.store.clone();
    let limit = handle.request_limit;
    let mut tasks = Vec::new();
    for read in reads {
        let path = path_of(handle, &read.key)?;
        tasks.push((store.clone(), path, read));
    }
    run(handle, Code::Unavailable, async move {
        let started: Vec<_> = tasks
            .into_iter()
            .map(|(store, path, read)| tokio::spawn(async move { read_range(&*store, &path, read, limit).await }))
            .collect();
        let mut received = Vec::new();
        let mut first_failure = None;
        // Every task is waited for, the aborted ones too: they write to the caller's memory.
        for task in started {
            if first_failure.is_some() {
                task.abort();
            }
            match task.await {
                Ok(Ok(size)) => received.push(size),
                Ok(Err(failure)) => first_failure = first_failure.or(Some(failure)),
                Err(_) => {
                    first_failure = first_failure.or(Some(Failure::new(Code::Unavailable, "the client failed")));
                }
            }
        }
        first_failure.map_or(Ok(received), Err)
    })
}

async fn read_range(store: &dyn Backend, path: &Path, read: RangeRead, limit: Duration) -> Result<usize, Failure> {
    let wanted = read.target.size as u64;
    if wanted == 0 || read.offset > i64::MAX as u64 - wanted {
        // No such range can be asked for, but the object must be there.
        return stat_path(store, path, limit).await.map(|_| 0);
    }
    let trace = Trace::default();
    let range = Some(GetRange::Bounded(read.offset..read.offset + wanted));
    let options = GetOptions { range, extensions: trace.extensions(), ..GetOptions::default() };
    // The crate checks the status, and that Content-Range is what was asked for.
    let result = match answer(store.get_opts(path, options), limit, &trace).await {
        Ok(result) => result,
        Err(_) if trace.fate().status == Some(416) => return Ok(0),
        // Azurite gives 206 to what begins at the end.
        Err(failure) if failure.message.contains("Wanted range starting at") => {
            let size = stat_path(store, path, limit).await?;
            return if read.offset >= size { Ok(0) } else { Err(failure) };
        }
        Err(failure) => return Err(failure),
    };
    let expected = (result.range.end - result.range.start) as usize;
    let mut received = 0;
    each_chunk(result, limit, &trace, |bytes| {
        if received + bytes.len() > expected {
            return false;
        }
        read.target.take(received, bytes);
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

pub struct Page {
    pub objects: Vec<(String, u64)>,
    pub next_start_after: String,
}

pub fn list(handle: &Handle, prefix: &str, start_after: &str, limit: usize) -> Result<Page, Failure> {
    let ours = handle.prefix.clone();
    let prefix = format!("{ours}{prefix}");
    let by_token = handle.lists_by_token();
    let non_empty = |text: String| Some(text).filter(|text| !text.is_empty());
    let mut token = by_token.then(|| start_after.to_string()).and_then(non_empty);
    let offset = (!by_token && !start_after.is_empty()).then(|| format!("{ours}{start_after}"));
    let store = handle.client()?.store.clone();
    let time_limit = handle.request_limit;
    run(handle, Code::Unavailable, async move {
        loop {
            let trace = Trace::default();
            let options = PaginatedListOptions {
                offset: offset.clone(),
                max_keys: Some(limit.min(PAGE_OBJECTS_MAX)),
                page_token: token,
                extensions: trace.extensions(),
                ..PaginatedListOptions::default()
            };
            // Of Azure the crate leaves out the object whose whole name is the prefix: ask for a little more.
            let shorter = prefix.char_indices().next_back().map_or(0, |(index, _)| index);
            let asked = if by_token && !prefix.ends_with('/') { &prefix[..shorter] } else { prefix.as_str() };
            let asked = Some(asked).filter(|asked| !asked.is_empty());
            let page = match tokio::time::timeout(time_limit, store.list_paginated(asked, options)).await {
                Ok(page) => page.map_err(|error| judge(Call::List, &error, &trace.fate()))?,
                Err(_) => return Err(Failure::new(Code::Unavailable, too_slow(time_limit))),
            };
            token = page.page_token;
            let own_key = |path: &Path| path.as_ref().strip_prefix(&ours).map(str::to_string);
            let wanted = |path: &Path| path.as_ref().starts_with(&prefix);
            let objects: Vec<_> = page
                .result
                .objects
                .iter()
                .filter(|meta| wanted(&meta.location))
                .filter_map(|meta| Some((own_key(&meta.location)?, meta.size)))
                .collect();
            // A page may be empty and yet not the last.
            if objects.is_empty() && token.is_some() {
                continue;
            }
            let next_start_after = match token {
                Some(token) if by_token => token,
                Some(_) => objects.last().map(|(key, _)| key.clone()).unwrap_or_default(),
                None => String::new(),
            };
            return Ok(Page { objects, next_start_after });
        }
    })
}

/// Sets `done` of each key that is gone: who tries again need not name it.
pub fn delete(handle: &Handle, keys: &[&str], done: &mut [bool]) -> Result<(), Failure> {
    let mut paths = Vec::new();
    for key in keys {
        paths.push(path_of(handle, key)?);
    }
    let store = handle.client()?.store.clone();
    let limit = handle.request_limit;
    let one_by_one = handle.kind == Kind::Gcs;
    let (gone, result) = run(handle, Code::Unavailable, async move {
        Ok(if one_by_one { delete_each(store, paths, limit).await } else { delete_batch(store, paths, limit).await })
    })?;
    gone.into_iter().for_each(|index| done[index] = true);
    result
}

/// The indices of what is gone, and the first failure.
type Deleted = (Vec<usize>, Result<(), Failure>);

/// As many keys a request as the store takes.
async fn delete_batch(store: Arc<dyn Backend>, paths: Vec<Path>, limit: Duration) -> Deleted {
    let trace = Trace::default();
    let count = paths.len();
    let deletion = async {
        let mut deleted = store.delete_stream(stream::iter(paths.into_iter().map(Ok)).boxed());
        loop {
            match tokio::time::timeout(limit, deleted.next()).await {
                Ok(None) => return Ok(()),
                // Azure says so of a key that is not there.
                Ok(Some(Ok(_) | Err(Error::NotFound { .. }))) => {}
                Ok(Some(Err(error))) => return Err(judge(Call::Delete, &error, &trace.fate())),
                Err(_) => return Err(Failure::new(Code::Unavailable, too_slow(limit))),
            }
        }
    };
    let result = CALL_TRACE.scope(trace.clone(), deletion).await;
    (if result.is_ok() { (0..count).collect() } else { Vec::new() }, result)
}

/// GCS takes one key a request.
async fn delete_each(store: Arc<dyn Backend>, paths: Vec<Path>, limit: Duration) -> Deleted {
    const AT_ONCE: usize = 16;
    let store = &*store;
    let mut deletions = stream::iter(paths.into_iter().enumerate())
        .map(|(index, path)| async move {
            let trace = Trace::default();
            match tokio::time::timeout(limit, CALL_TRACE.scope(trace.clone(), store.delete(&path))).await {
                Ok(Ok(())) => Ok(index),
                Ok(Err(error)) => match judge(Call::Read, &error, &trace.fate()) {
                    Failure { code: Code::NotFound, .. } => Ok(index),
                    failure => Err(failure),
                },
                Err(_) => Err(Failure::new(Code::Unavailable, too_slow(limit))),
            }
        })
        .buffer_unordered(AT_ONCE);
    let (mut gone, mut first_failure) = (Vec::new(), None);
    while let Some(deleted) = deletions.next().await {
        match deleted {
            Ok(index) => gone.push(index),
            Err(failure) => first_failure = first_failure.or(Some(failure)),
        }
    }
    (gone, first_failure.map_or(Ok(()), Err))
}
