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
use crate::connector::{Extra, Signer, Trace, CALL_TRACE};
use crate::open::{Handle, Kind, Signing};
use crate::verdict::{judge, Call, Code, Failure};

/// A transfer that is slower is given up.
const BYTES_PER_SECOND_MIN: u64 = 1 << 20;
/// MinIO denies a put whose folder another request removes at that moment, with the words of a right that is missing. Nothing
/// was written then: it is asked again, so often, and first after so long.
const DENIED_TRIES_MAX: u32 = 6;
const DENIED_WAIT: Duration = Duration::from_millis(5);
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

/// With the sum by which the server knows damage, of an object or (in S3 it is another) of a part of one.
async fn trace_of(
    kind: Kind,
    signing: &Option<Signing>,
    payload: &PutPayload,
    is_part: bool,
) -> Result<Trace, Failure> {
    let sum = |algorithm| {
        let mut digest = Digest::new(algorithm);
        payload.iter().for_each(|piece| digest.update(piece));
        digest.finalize()
    };
    let crc32c = || BASE64_STANDARD.encode((sum(CrcAlgorithm::Crc32Iscsi) as u32).to_be_bytes());
    let (name, value) = match (kind, signing) {
        // What is signed otherwise has a sum in its signature.
        (Kind::S3, None) => return Ok(Trace::default()),
        (Kind::S3, Some(_)) if is_part => {
            let mut sha256 = ring::digest::Context::new(&ring::digest::SHA256);
            payload.iter().for_each(|piece| sha256.update(piece));
            return trace_with(signing, Vec::new(), Some(sha256.finish().as_ref().to_vec())).await;
        }
        (Kind::S3, Some(_)) => ("x-amz-checksum-crc32c", crc32c()),
        (Kind::Gcs, _) => ("x-goog-hash", format!("crc32c={}", crc32c())),
        (Kind::Azure, _) => ("x-ms-content-crc64", BASE64_STANDARD.encode(sum(CrcAlgorithm::Crc64Nvme).to_le_bytes())),
    };
    let value =
        HeaderValue::from_str(&value).map_err(|error| Failure::new(Code::InvalidArgument, error.to_string()))?;
    trace_with(signing, vec![(HeaderName::from_static(name), value)], None).await
}

/// Of a request that asks something else than `object_store` thinks.
pub async fn trace_with_query(signing: &Option<Signing>, query: String) -> Result<Trace, Failure> {
    extra_trace(signing, Extra { query: Some(query), ..Extra::default() }, None).await
}

async fn trace_with(
    signing: &Option<Signing>,
    headers: Vec<(HeaderName, HeaderValue)>,
    sum: Option<Vec<u8>>,
) -> Result<Trace, Failure> {
    extra_trace(signing, Extra { headers, ..Extra::default() }, sum).await
}

/// With what signs it.
async fn extra_trace(signing: &Option<Signing>, extra: Extra, sum: Option<Vec<u8>>) -> Result<Trace, Failure> {
    let cannot_sign = |error| judge(Call::Overwrite, &error, &Trace::default().fate());
    let signer = match signing {
        None => None,
        Some(Signing::Azure { account, credentials }) => {
            let key = credentials.get_credential().await.map_err(cannot_sign)?;
            let is_key = matches!(*key, AzureCredential::AccessKey(_));
            is_key.then(|| Signer::Azure { account: account.clone(), key })
        }
        Some(Signing::Aws { region, credentials }) => {
            let key = credentials.get_credential().await.map_err(cannot_sign)?;
            Some(Signer::Aws { region: region.clone(), key, sum })
        }
    };
    Ok(Trace::with(Extra { signer, ..extra }))
}

pub fn put(handle: &Handle, key: &str, pieces: Vec<Piece>, create: bool) -> Result<(), Failure> {
    let path = path_of(handle, key)?;
    let payload = payload_of(&pieces);
    let limit = limit_for(handle, payload.content_length() as u64);
    let client = handle.client()?;
    let (store, signing, kind) = (client.store.clone(), client.signing.clone(), handle.kind);
    run(handle, Code::UnknownOutcome, async move {
        let mut tries = 1;
        loop {
            let trace = trace_of(kind, &signing, &payload, false).await?;
            let mode = if create { PutMode::Create } else { PutMode::Overwrite };
            let options = PutOptions { mode, extensions: trace.extensions(), ..PutOptions::default() };
            let put = tokio::time::timeout(limit, store.put_opts(&path, payload.clone(), options)).await;
            let fate = trace.fate();
            match put {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(_)) if fate.is_minio && fate.status == Some(403) && tries < DENIED_TRIES_MAX => {
                    tokio::time::sleep(DENIED_WAIT * 2u32.pow(tries)).await;
                    tries += 1;
                }
                Ok(Err(error)) => {
                    return Err(judge(if create { Call::Create } else { Call::Overwrite }, &error, &fate))
                }
                Err(_) if fate.sent => return Err(Failure::new(Code::UnknownOutcome, too_slow(limit))),
                Err(_) => return Err(Failure::new(Code::Unavailable, too_slow(limit))),
            }
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
    let (store, signing, kind) = (client.store.clone(), client.signing.clone(), handle.kind);
    let (path, id, done) = (upload.path.clone(), upload.id.clone(), upload.parts.clone());
    let size = |pieces: &Vec<Piece>| pieces.iter().map(|piece| piece.size as u64).sum::<u64>();
    let limit = limit_for(handle, parts.iter().map(size).max().unwrap_or_default());
    let missing: Vec<_> = {
        let done = done.lock().unwrap();
        parts.into_iter().enumerate().filter(|(index, _)| done[*index].is_none()).collect()
    };
    run(handle, Code::Unavailable, async move {
        let (store, signing, path, id, done) = (&*store, &signing, &path, &id, &done);
        let mut results = stream::iter(missing)
            .map(|(index, pieces)| async move {
                let payload = payload_of(&pieces);
                let trace = trace_of(kind, signing, &payload, true).await?;
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
    let (store, signing) = (client.store.clone(), client.signing.clone());
    let (path, id) = (upload.path.clone(), upload.id.clone());
    let parts: Vec<PartId> = upload.parts.lock().unwrap().iter().flatten().cloned().collect();
    let limit = limit_for(handle, parts.len() as u64 * handle.part_bytes);
    run(handle, Code::UnknownOutcome, async move {
        let condition = (http::header::IF_NONE_MATCH, HeaderValue::from_static("*"));
        let trace = match create {
            true => trace_with(&signing, vec![condition], None).await?,
            false => Trace::default(),
        };
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
    abort_of(handle, upload.path.clone(), upload.id.clone())
}

/// The same of an upload of anybody's.
pub fn abort_of(handle: &Handle, path: Path, id: String) -> Result<(), Failure> {
    let store = handle.client()?.store.clone();
    let limit = handle.request_limit;
    run(handle, Code::Unavailable, async move {
        let trace = Trace::default();
        let request = CALL_TRACE.scope(trace.clone(), store.abort_multipart(&path, &id));
        match tokio::time::timeout(limit, request).await {
            // Who was not told of the end of an earlier try asks again.
            Ok(Err(_)) if trace.fate().status == Some(404) => Ok(()),
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(judge(Call::AbortUpload, &error, &trace.fate())),
            Err(_) => Err(Failure::new(Code::Unavailable, too_slow(limit))),
        }
    })
}
