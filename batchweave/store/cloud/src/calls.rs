//! What all calls of a store have in common, and those that neither read nor write objects; each is one attempt.

use std::future::Future;
use std::sync::{mpsc, Arc};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use object_store::list::PaginatedListOptions;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt};

use crate::connector::{Trace, CALL_TRACE};
use crate::open::{Backend, Handle, Kind};
use crate::verdict::{judge, Call, Code, Failure};

/// What S3, GCS and Azure give at most in a page.
const PAGE_OBJECTS_MAX: usize = 1000;

/// Runs `future` on the handle's runtime and waits for its end: a future that borrows the caller's memory never
/// outlives this call.
pub fn run<T: Send + 'static>(
    handle: &Handle,
    lost: Code,
    future: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let client = handle.client()?;
    client.runtime.spawn(async move {
        // Nobody waits only where the process is about to end.
        let _ = sender.send(future.await);
    });
    receiver
        .recv()
        .unwrap_or_else(|_| Err(Failure::new(lost, "the client failed: see its message on the standard error")))
        .map_err(|failure| client.renew(failure))
}

pub fn path_of(handle: &Handle, key: &str) -> Result<Path, Failure> {
    Path::parse(format!("{}{key}", handle.prefix))
        .map_err(|error| Failure::new(Code::InvalidArgument, error.to_string()))
}

pub fn too_slow(limit: Duration) -> String {
    format!("no answer within {:.1} s", limit.as_secs_f64())
}

pub struct Page {
    pub objects: Vec<(String, u64)>,
    pub next_start_after: String,
}

/// Whether a key may begin so: some servers refuse to be asked for others.
fn begins_a_key(prefix: &str) -> bool {
    !prefix.starts_with('/') && !prefix.contains("//") && !prefix.split('/').any(|component| component.starts_with('.'))
}

pub fn list(handle: &Handle, prefix: &str, start_after: &str, limit: usize) -> Result<Page, Failure> {
    if !begins_a_key(prefix) {
        return Ok(Page { objects: Vec::new(), next_start_after: String::new() });
    }
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
    result.map_err(|failure| handle.client().map_or_else(|other| other, |client| client.renew(failure)))
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
                Ok(Some(Ok(_))) => {}
                // Azure says so of a key that is not there; of the whole request it is said of the bucket.
                Ok(Some(Err(Error::NotFound { .. }))) if trace.fate().status != Some(404) => {}
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
