//! Writes of objects: one request, or several for a large one. Each call is one attempt.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::prelude::{Engine, BASE64_STANDARD};
use bytes::Bytes;
use crc_fast::{CrcAlgorithm, Digest};
use futures_util::stream::{self, StreamExt};
use http::{HeaderName, HeaderValue};
use object_store::azure::AzureCredential;
use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::{ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload};

use crate::calls::{path_of, run, too_slow};
use crate::connector::{Extra, Trace, CALL_TRACE};
use crate::open::{AzureSigner, Handle, Kind};
use crate::verdict::{judge, Call, Code, Failure};

/// A transfer that is slower is given up.
const BYTES_PER_SECOND_MIN: u64 = 1 << 20;
/// As many parts of one upload are on their way at once.
const PARTS_AT_ONCE: usize = 4;

fn limit_for(handle: &Handle, bytes: u64) -> Duration {
    handle.request_limit + Duration::from_secs(bytes / BYTES_PER_SECOND_MIN)
}

/// Memory of the caller, who waits until nobody uses it any more.
#[derive(Clone, Copy)]
pub struct Piece {
    pub data: *const u8,
    pub size: usize,
}

// SAFETY: nobody changes it, and the caller waits.
unsafe impl Send for Piece {}
unsafe impl Sync for Piece {}

/// A copy: a request that was given up may hold its body a little longer than the caller does.
fn payload_of(pieces: &[Piece]) -> PutPayload {
    // SAFETY: as above.
    pieces
        .iter()
        .map(|piece| Bytes::copy_from_slice(unsafe { std::slice::from_raw_parts(piece.data, piece.size) }))
        .collect()
}

/// The sum by which the server knows damage. S3 has it in the signature.
fn checksum(kind: Kind, payload: &PutPayload) -> Option<(HeaderName, HeaderValue)> {
    let sum = |algorithm| {
        let mut digest = Digest::new(algorithm);
        payload.iter().for_each(|piece| digest.update(piece));
        digest.finalize()
    };
    let (name, value) = match kind {
        Kind::S3 => return None,
        Kind::Gcs => {
            let sum = sum(CrcAlgorithm::Crc32Iscsi) as u32;
            ("x-goog-hash", format!("crc32c={}", BASE64_STANDARD.encode(sum.to_be_bytes())))
        }
        Kind::Azure => ("x-ms-content-crc64", BASE64_STANDARD.encode(sum(CrcAlgorithm::Crc64Nvme).to_le_bytes())),
    };
    Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
}

async fn trace_with(signer: &Option<AzureSigner>, headers: Vec<(HeaderName, HeaderValue)>) -> Result<Trace, Failure> {
    let azure_key = match signer {
        None => None,
        Some(signer) => {
            let credential = signer.credentials.get_credential().await;
            let credential = credential.map_err(|error| judge(Call::Overwrite, &error, &Trace::default().fate()))?;
            matches!(*credential, AzureCredential::AccessKey(_)).then(|| (signer.account.clone(), credential))
        }
    };
    Ok(Trace::with(Extra { headers, azure_key }))
}

pub fn put(handle: &Handle, key: &str, pieces: Vec<Piece>, create: bool) -> Result<(), Failure> {
    let path = path_of(handle, key)?;
    let payload = payload_of(&pieces);
    let limit = limit_for(handle, payload.content_length() as u64);
    let client = handle.client()?;
    let (store, signer, kind) = (client.store.clone(), client.azure.clone(), handle.kind);
    run(handle, Code::UnknownOutcome, async move {
        let trace = trace_with(&signer, checksum(kind, &payload).into_iter().collect()).await?;
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

/// An object on its way in parts: nobody sees it before `complete`.
pub struct Upload {
    path: Path,
    id: String,
    /// Those that are there.
    parts: Arc<Mutex<Vec<Option<PartId>>>>,
}

pub fn begin(handle: &Handle, key: &str, parts: usize) -> Result<Upload, Failure> {
    let path = path_of(handle, key)?;
    let store = handle.client()?.store.clone();
    let limit = handle.request_limit;
    run(handle, Code::Unavailable, async move {
        let trace = Trace::default();
        let request = store.create_multipart_opts(&path, PutMultipartOptions::default());
        match tokio::time::timeout(limit, CALL_TRACE.scope(trace.clone(), request)).await {
            Ok(Ok(id)) => Ok(Upload { path, id, parts: Arc::new(Mutex::new(vec![None; parts])) }),
            Ok(Err(error)) => Err(judge(Call::Part, &error, &trace.fate())),
            Err(_) => Err(Failure::new(Code::Unavailable, too_slow(limit))),
        }
    })
}

/// Sends those of `parts` that are not there yet.
pub fn put_parts(handle: &Handle, upload: &Upload, parts: Vec<Vec<Piece>>) -> Result<(), Failure> {
    let client = handle.client()?;
    let (store, signer, kind) = (client.store.clone(), client.azure.clone(), handle.kind);
    let (path, id, done) = (upload.path.clone(), upload.id.clone(), upload.parts.clone());
    let size = |pieces: &Vec<Piece>| pieces.iter().map(|piece| piece.size as u64).sum::<u64>();
    let limit = limit_for(handle, parts.iter().map(size).max().unwrap_or_default());
    let missing: Vec<_> = {
        let done = done.lock().unwrap();
        parts.into_iter().enumerate().filter(|(index, _)| done[*index].is_none()).collect()
    };
    run(handle, Code::Unavailable, async move {
        let (store, signer, path, id, done) = (&*store, &signer, &path, &id, &done);
        let mut results = stream::iter(missing)
            .map(|(index, pieces)| async move {
                let payload = payload_of(&pieces);
                let trace = trace_with(signer, checksum(kind, &payload).into_iter().collect()).await?;
                let request = CALL_TRACE.scope(trace.clone(), store.put_part(path, id, index, payload));
                match tokio::time::timeout(limit, request).await {
                    Ok(Ok(part)) => done.lock().unwrap()[index] = Some(part),
                    Ok(Err(error)) => return Err(judge(Call::Part, &error, &trace.fate())),
                    Err(_) => return Err(Failure::new(Code::Unavailable, too_slow(limit))),
                }
                Ok(())
            })
            .buffer_unordered(PARTS_AT_ONCE);
        // All are tried: what is there need not be sent again.
        let mut first_failure = None;
        while let Some(result) = results.next().await {
            first_failure = first_failure.or(result.err());
        }
        first_failure.map_or(Ok(()), Err)
    })
}

/// Makes the object of the parts, which are all there.
pub fn complete(handle: &Handle, upload: &Upload, create: bool) -> Result<(), Failure> {
    let client = handle.client()?;
    let (store, signer) = (client.store.clone(), client.azure.clone());
    let (path, id) = (upload.path.clone(), upload.id.clone());
    let parts: Vec<PartId> = upload.parts.lock().unwrap().iter().flatten().cloned().collect();
    let limit = limit_for(handle, parts.len() as u64 * handle.part_bytes);
    run(handle, Code::UnknownOutcome, async move {
        let condition = (http::header::IF_NONE_MATCH, HeaderValue::from_static("*"));
        let trace = trace_with(&signer, create.then_some(condition).into_iter().collect()).await?;
        let request = CALL_TRACE.scope(trace.clone(), store.complete_multipart(&path, &id, parts));
        match tokio::time::timeout(limit, request).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(judge(if create { Call::Create } else { Call::Overwrite }, &error, &trace.fate())),
            Err(_) if trace.fate().sent => Err(Failure::new(Code::UnknownOutcome, too_slow(limit))),
            Err(_) => Err(Failure::new(Code::Unavailable, too_slow(limit))),
        }
    })
}

/// Removes what was sent. Azure does it by itself, after a week.
pub fn abort(handle: &Handle, upload: &Upload) -> Result<(), Failure> {
    let store = handle.client()?.store.clone();
    let (path, id) = (upload.path.clone(), upload.id.clone());
    let limit = handle.request_limit;
    run(handle, Code::Unavailable, async move {
        let trace = Trace::default();
        let request = CALL_TRACE.scope(trace.clone(), store.abort_multipart(&path, &id));
        match tokio::time::timeout(limit, request).await {
            // Who was not told of the end of an earlier try asks again.
            Ok(Err(_)) if trace.fate().status == Some(404) => Ok(()),
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(judge(Call::Part, &error, &trace.fate())),
            Err(_) => Err(Failure::new(Code::Unavailable, too_slow(limit))),
        }
    })
}
