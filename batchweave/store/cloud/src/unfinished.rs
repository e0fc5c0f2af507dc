//! Uploads in parts that are not complete: who died at one leaves its parts, in S3 until somebody aborts it.

use object_store::list::PaginatedListOptions;
use url::form_urlencoded::byte_serialize;

use crate::calls::{path_of, run, too_slow};
use crate::open::{Handle, Kind};
use crate::upload::{abort_of, trace_with_query};
use crate::verdict::{judge, Call, Code, Failure};

pub struct Unfinished {
    pub key: String,
    pub id: String,
}

/// All below `prefix`. Empty where the store keeps none (GCS, Azure), or cannot tell of them.
pub fn list(handle: &Handle, prefix: &str) -> Result<Vec<Unfinished>, Failure> {
    let client = handle.client()?;
    // What is signed in another way cannot be asked by us.
    if handle.kind != Kind::S3 || client.signing.is_none() {
        return Ok(Vec::new());
    }
    let (store, signing, limit) = (client.store.clone(), client.signing.clone(), handle.request_limit);
    let ours = handle.prefix.clone();
    let prefix = format!("{ours}{prefix}");
    run(handle, Code::Unavailable, async move {
        let mut found = Vec::new();
        let mut after = String::new();
        loop {
            let query = format!("uploads=&prefix={}{after}", encoded(&prefix));
            let trace = trace_with_query(&signing, query).await?;
            let options = PaginatedListOptions { extensions: trace.extensions(), ..PaginatedListOptions::default() };
            match tokio::time::timeout(limit, store.list_paginated(None, options)).await {
                Ok(Ok(_)) => {}
                Ok(Err(_)) if matches!(trace.fate().status, Some(405 | 501)) => return Ok(found),
                Ok(Err(error)) => return Err(judge(Call::ListUploads, &error, &trace.fate())),
                Err(_) => return Err(Failure::new(Code::Unavailable, too_slow(limit))),
            }
            let kept = trace.kept();
            let text = String::from_utf8_lossy(&kept);
            for upload in elements(&text, "Upload") {
                let (key, id) = (element(upload, "Key").unwrap_or_default(), element(upload, "UploadId"));
                if let (Some(key), Some(id)) = (key.strip_prefix(&ours), id) {
                    found.push(Unfinished { key: key.to_string(), id });
                }
            }
            let marker = |name| encoded(&element(&text, name).unwrap_or_default());
            let next =
                format!("&key-marker={}&upload-id-marker={}", marker("NextKeyMarker"), marker("NextUploadIdMarker"));
            // A server that knows nothing of uploads answers with its objects, and has no marker.
            let goes_on = element(&text, "IsTruncated").is_some_and(|value| value == "true");
            if !goes_on || element(&text, "NextKeyMarker").is_none() || next == after {
                return Ok(found);
            }
            after = next;
        }
    })
}

/// Of an upload that is gone it is no error.
pub fn abort(handle: &Handle, key: &str, id: &str) -> Result<(), Failure> {
    abort_of(handle, path_of(handle, key)?, id.to_string())
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// What stands within each `<name>` of an answer, which is never one in another.
fn elements<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    text.split(begin.as_str()).skip(1).filter_map(|rest| Some(rest.split_once(end.as_str())?.0)).collect()
}

fn element(text: &str, name: &str) -> Option<String> {
    let words = elements(text, name).first()?.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    Some(words.replace("&apos;", "'").replace("&#39;", "'").replace("&#34;", "\"").replace("&amp;", "&"))
}
