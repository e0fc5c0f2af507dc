//! From what became of a request to what the caller does about it.

use std::time::Duration;

use crate::connector::Fate;

/// As `BwcCode` in cloud_abi.h.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(i32)]
pub enum Code {
    InvalidArgument = 1,
    NotFound = 2,
    AlreadyExists = 3,
    Unavailable = 4,
    UnknownOutcome = 5,
    Denied = 6,
}

#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
    pub retry_after: Option<Duration>,
    /// The server says that the credentials have.
    pub expired: bool,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), retry_after: None, expired: false }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    Create,
    Overwrite,
    /// Of one object.
    Read,
    List,
    Delete,
    /// Of an upload, of which nobody sees anything yet.
    Part,
    ListUploads,
    AbortUpload,
}

/// What a call that failed with `error` came to.
pub fn judge(call: Call, error: &object_store::Error, fate: &Fate) -> Failure {
    let text = match error {
        // Ours: see credentials.rs.
        object_store::Error::Unauthenticated { source, .. } if fate.status.is_none() => source.to_string(),
        _ => chain(error),
    };
    // Of one key of a batch of deletes, in an answer that says 200.
    let is_denied = call == Call::Delete && text.contains("AccessDenied");
    let code = fate.azure_code.clone().or_else(|| between(&text, "<Code>", "</Code>"));
    let server_code = code.or_else(|| is_denied.then(|| "AccessDenied".to_string())).unwrap_or_default();
    let is_put = matches!(call, Call::Create | Call::Overwrite);
    let code = match (error, fate.status) {
        // A person must move it: no request is wrong.
        (object_store::Error::InvalidPath { .. }, _) if call == Call::List => Code::Denied,
        (object_store::Error::InvalidPath { .. }, _) => Code::InvalidArgument,
        (object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. }, _) => Code::Denied,
        _ if is_denied => Code::Denied,
        (_, Some(status)) if is_put => of_put(call, status, &server_code),
        (_, Some(status)) => of_read(call, status, &server_code),
        (object_store::Error::NotFound { .. }, None) => Code::NotFound,
        (object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. }, None) => {
            Code::Denied
        }
        (_, None) if is_put && fate.sent => Code::UnknownOutcome,
        (_, None) => Code::Unavailable,
    };
    let expired = matches!(server_code.as_str(), "ExpiredToken" | "TokenRefreshRequired");
    let message = match error {
        object_store::Error::InvalidPath { .. } if call == Call::List => of_unnameable(&text),
        _ => describe(call, &text, fate, &server_code),
    };
    Failure { code, message, retry_after: fate.retry_after, expired }
}

/// Of a client that could not be made.
pub fn of_client(error: &object_store::Error, bucket: &str) -> Failure {
    let text = chain(error);
    let (code, advice) = match () {
        // Nothing is wrong with what was given.
        _ if names_certificates(&text) => (Code::Denied, certificate_advice(&text)),
        _ => (Code::InvalidArgument, String::new()),
    };
    Failure::new(code, format!("{}: bucket={bucket}{advice}", first_line(&own_words(&text))))
}

/// Whatever is not certain is `UnknownOutcome`: a create is read back then.
fn of_put(call: Call, status: u16, server_code: &str) -> Code {
    match status {
        304 | 412 if call == Call::Create => Code::AlreadyExists,
        409 if call == Call::Create && server_code == "BlobAlreadyExists" => Code::AlreadyExists,
        // S3 answers 400 where the body did not come in time.
        400 if server_code == "RequestTimeout" => Code::UnknownOutcome,
        400 if server_code == "EntityTooLarge" => Code::InvalidArgument,
        413 => Code::InvalidArgument,
        400 if is_damage(server_code) => Code::Unavailable,
        // Of an upload in parts: it was aborted, or the same request came twice and was done at first.
        404 if server_code == "NoSuchUpload" => Code::UnknownOutcome,
        408 | 409 | 412 | 425 | 429 => Code::UnknownOutcome,
        507 => Code::Denied,
        300..=499 => Code::Denied,
        _ => Code::UnknownOutcome,
    }
}

fn of_read(call: Call, status: u16, server_code: &str) -> Code {
    match status {
        // Not of the bucket, nor of the user, as versitygw says: these are no answers about the object.
        404 if call == Call::Read && matches!(server_code, "" | "NoSuchKey" | "NotFound" | "BlobNotFound") => {
            Code::NotFound
        }
        400 if server_code == "RequestTimeout" || is_damage(server_code) => Code::Unavailable,
        // Of a part: somebody aborted its upload, and nothing was written.
        404 if server_code == "NoSuchUpload" => Code::Unavailable,
        408 | 409 | 412 | 425 | 429 => Code::Unavailable,
        300..=499 => Code::Denied,
        _ => Code::Unavailable,
    }
}

/// The server found that what came is not what was sent, and took nothing.
fn is_damage(server_code: &str) -> bool {
    matches!(
        server_code,
        "BadDigest" | "XAmzContentChecksumMismatch" | "XAmzContentSHA256Mismatch" | "Crc64Mismatch" | "Md5Mismatch"
    )
}

/// One such key fails the whole page. The crate says which, in quotes.
fn of_unnameable(text: &str) -> String {
    let key = between(text, "Path \"", "\" contained").or_else(|| between(text, "Path \"", "\": ")).unwrap_or_default();
    format!(
        "a list shows a key that this client cannot name (with \"//\", a component \".\" or \"..\", or a control \
         character): remove or move it: key={}",
        first_line(&key.escape_debug().to_string())
    )
}

/// Never the URL or the whole body: they may hold signatures and tokens.
fn describe(call: Call, text: &str, fate: &Fate, server_code: &str) -> String {
    let Some(status) = fate.status else {
        return match &fate.broken {
            Some(broken) if fate.sent && fate.is_plain => {
                format!("the connection broke: {broken}: where the server speaks TLS, the endpoint is https://")
            }
            Some(broken) if fate.sent => format!("the connection broke: {broken}"),
            Some(broken) => format!("cannot connect: {broken}{}", connection_advice(broken)),
            None => format!("the request could not be made: {}", first_line(&own_words(text))),
        };
    };
    let message = between(text, "<Message>", "</Message>").unwrap_or_default();
    let mut words = format!("the server answered: status={status}");
    if !server_code.is_empty() {
        words += &format!(" code={server_code}");
    }
    if !message.is_empty() {
        words += &format!(" message={}", first_line(&message));
    }
    if (200..300).contains(&status) {
        words += &format!(" error={}", first_line(text));
    }
    // As servers in Go say it.
    if text.contains("HTTP request to an HTTPS server") {
        return words + ": the server speaks TLS: the endpoint in the URL is to begin with https://";
    }
    words + advice(call, status, server_code)
}

fn advice(call: Call, status: u16, server_code: &str) -> &'static str {
    match (status, server_code) {
        (_, "RequestTimeTooSkewed") => ": set this machine's clock",
        (_, "ExpiredToken" | "TokenRefreshRequired") => ": the credentials have expired: get new ones",
        (_, "SignatureDoesNotMatch" | "InvalidAccessKeyId" | "InvalidToken" | "XAdminUserNotFound") => {
            ": check the access key and its secret"
        }
        (401, _) | (_, "AuthenticationFailed" | "InvalidAuthenticationInfo") => {
            ": check the credentials, and this machine's clock"
        }
        (_, "NoSuchBucket" | "ContainerNotFound") => ": create the bucket, or mend the URL",
        (300..=399, _) | (_, "AuthorizationHeaderMalformed") => ": check the region and the endpoint in the URL",
        (407, _) => ": a proxy stands between: check HTTPS_PROXY and NO_PROXY",
        (_, "InvalidRequest" | "MethodNotAllowed" | "AccessDenied") if call == Call::Delete => {
            ": deleting is not permitted (S3: s3:DeleteObject; GCS: storage.objects.delete; Azure: Storage Blob Data \
             Contributor), or the bucket locks its objects"
        }
        (403, _) if call == Call::ListUploads => {
            ": listing uploads is not permitted (S3: s3:ListBucketMultipartUploads, of the bucket)"
        }
        (403, _) if call == Call::AbortUpload => ": aborting uploads is not permitted (S3: s3:AbortMultipartUpload)",
        (403, _) if call == Call::List => {
            ": listing is not permitted (S3: s3:ListBucket, of the bucket; GCS: storage.objects.list; Azure: Storage Blob \
             Data Reader)"
        }
        // Without the second, S3 hides that an object is missing.
        (403, _) if call == Call::Read => {
            ": reading is not permitted (S3: s3:GetObject, and s3:ListBucket of the bucket; GCS: storage.objects.get; \
             Azure: Storage Blob Data Reader)"
        }
        (403, _) if matches!(call, Call::Create | Call::Overwrite | Call::Part) => {
            ": writing is not permitted (S3: s3:PutObject; GCS: storage.objects.create, and .delete to overwrite; Azure: \
             Storage Blob Data Contributor)"
        }
        (403, _) => ": check the credentials, and what they permit",
        _ => "",
    }
}

/// Of a server's certificate, or of the lack of those of authorities.
fn certificate_advice(text: &str) -> String {
    let has = |words: &str| text.contains(words);
    let advice = match () {
        _ if has("certificate expired") => ": renew the server's certificate, or set this machine's clock",
        _ if has("certificate not valid yet") => ": set this machine's clock",
        _ if has("not valid for name") => ": name the server in the endpoint of the URL as its certificate does",
        _ if has("CaUsedAsEndEntity") => {
            ": the server's certificate says that it is an authority's: make one with basicConstraints=CA:FALSE"
        }
        _ => {
            let whose = if has("UnknownIssuer") { ": the server's certificate is not trusted" } else { "" };
            return format!(
                "{whose}: install the package ca-certificates, or give the file of the authority's certificate: ca_bundle \
                 in the URL, AWS_CA_BUNDLE or SSL_CERT_FILE in the environment"
            );
        }
    };
    advice.to_string()
}

fn names_certificates(text: &str) -> bool {
    let words = ["UnknownIssuer", "CA cert", "No CA", "no native root", "invalid peer certificate", "root cert"];
    words.iter().any(|word| text.contains(word))
}

/// Of a connection that could not be made.
fn connection_advice(broken: &str) -> String {
    let has = |words: &[&str]| words.iter().any(|word| broken.contains(word));
    let advice = match () {
        _ if has(&["InvalidContentType", "corrupt message"]) => {
            ": the server does not speak TLS: check the endpoint (http:// needs allow_http=true)"
        }
        _ if names_certificates(broken) => return certificate_advice(broken),
        _ if has(&["tunnel", "proxy"]) => ": a proxy stands between: check HTTPS_PROXY and NO_PROXY",
        _ if has(&["lookup", "dns"]) => ": check the endpoint, the bucket's name and the region in the URL",
        _ => ": check the endpoint in the URL, and HTTPS_PROXY",
    };
    advice.to_string()
}

/// Without what follows the '?' of a URL: services that give credentials are told secrets there.
fn own_words(text: &str) -> String {
    let words =
        text.split(' ').map(|word| if word.starts_with("http") { word.split('?').next().unwrap_or("") } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn first_line(text: &str) -> &str {
    const MESSAGE_BYTES_MAX: usize = 300;
    let line = text.lines().next().unwrap_or_default();
    let end = (0..=MESSAGE_BYTES_MAX.min(line.len())).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
    &line[..end]
}

fn between(text: &str, begin: &str, end: &str) -> Option<String> {
    let rest = &text[text.find(begin)? + begin.len()..];
    Some(rest[..rest.find(end)?].to_string())
}

fn chain(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        let more = source.to_string();
        if !text.contains(&more) {
            text += ": ";
            text += &more;
        }
        next = source.source();
    }
    text
}
