//! From a URL, options and the environment to a client. Nothing else reads the environment.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredentialProvider};
use object_store::azure::{AzureConfigKey, AzureCredentialProvider, MicrosoftAzureBuilder};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::list::PaginatedListStore;
use object_store::multipart::MultipartStore;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig, StaticCredentialProvider};
use reqwest::Certificate;
use tokio::runtime::Runtime;
use url::Url;

use crate::connector::TracingConnector;
use crate::credentials::{region_of_profile, AwsChain};
use crate::hedge::Hedges;
use crate::verdict::{of_client, Code, Failure};

/// For a request's answer to begin, or to go on. A person is told of a server that never answers within ten seconds.
const REQUEST_LIMIT: Duration = Duration::from_secs(9);
/// What S3 advises to upload in parts begins about here.
const UPLOAD_PARTS_ABOVE_BYTES: u64 = 128 << 20;
/// What Azure takes in one request, the least of all.
const UPLOAD_PARTS_ABOVE_BYTES_MAX: u64 = 5000 << 20;
/// What S3 takes in one request; in parts it would be more.
pub const PUT_BYTES_MAX: u64 = 5 << 30;
/// At most 10,000 parts of at least 5 MiB are taken.
const PART_BYTES: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    S3,
    Gcs,
    Azure,
}

pub trait Backend: ObjectStore + PaginatedListStore + MultipartStore {}
impl<T: ObjectStore + PaginatedListStore + MultipartStore> Backend for T {}

/// What a store is opened with; its client is made at the first call of each process.
pub struct Handle {
    pub kind: Kind,
    pub bucket: String,
    /// Empty, or ends in '/'.
    pub prefix: String,
    pub request_limit: Duration,
    pub upload_parts_above_bytes: u64,
    pub part_bytes: u64,
    pub hedges: Arc<Hedges>,
    profile: Option<String>,
    /// Of S3, where neither options nor environment have one.
    region: Option<String>,
    /// Whom it trusts besides the machine's own.
    authorities: Vec<Certificate>,
    options: Vec<(String, String)>,
    client: AtomicPtr<Client>,
}

pub struct Client {
    process: u32,
    pub runtime: Runtime,
    pub store: Arc<dyn Backend>,
    pub signing: Option<Signing>,
    aws: Option<Arc<AwsChain>>,
}

impl Client {
    /// A call that failed since the credentials have expired may be made again, where new ones can be had.
    pub fn renew(&self, failure: Failure) -> Failure {
        match &self.aws {
            Some(chain) if failure.expired => {
                chain.reject();
                Failure { code: Code::Unavailable, ..failure }
            }
            _ => failure,
        }
    }
}

/// Whose requests are signed anew with what `object_store` cannot be told to say; none where nothing is signed, or in another way.
#[derive(Clone)]
pub enum Signing {
    Azure { account: String, credentials: AzureCredentialProvider },
    Aws { region: String, credentials: AwsCredentialProvider },
}

struct Built {
    store: Arc<dyn Backend>,
    signing: Option<Signing>,
    aws: Option<Arc<AwsChain>>,
}

impl Handle {
    /// `options` go before what the URL's query says, and that before the environment.
    pub fn open(url: &str, options: Vec<(String, String)>) -> Result<Self, Failure> {
        let invalid = |what: &str| Failure::new(Code::InvalidArgument, format!("{what}: url={}", redacted(url)));
        let parsed = Url::parse(url).map_err(|error| invalid(&error.to_string()))?;
        let kind = match parsed.scheme() {
            "s3" => Kind::S3,
            "gs" => Kind::Gcs,
            "az" => Kind::Azure,
            _ => return Err(invalid("not a cloud store: use s3://, gs:// or az://")),
        };
        let bucket = parsed.host_str().unwrap_or_default().to_string();
        if bucket.is_empty() || !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(invalid("the URL must be SCHEME://BUCKET/PREFIX, without a user"));
        }
        let mut all = Vec::new();
        for (name, value) in parsed.query_pairs() {
            if is_secret(&name) {
                return Err(invalid(&format!(
                    "a secret has no place in a URL: set it in the environment: option={name}"
                )));
            }
            all.push((name.into_owned(), value.into_owned()));
        }
        all.extend(options);
        let path = parsed.path().trim_matches('/');
        let mut handle = Handle {
            kind,
            bucket,
            prefix: if path.is_empty() { String::new() } else { format!("{path}/") },
            request_limit: REQUEST_LIMIT,
            upload_parts_above_bytes: UPLOAD_PARTS_ABOVE_BYTES,
            part_bytes: PART_BYTES,
            hedges: Arc::default(),
            profile: None,
            region: None,
            authorities: Vec::new(),
            options: Vec::new(),
            client: AtomicPtr::default(),
        };
        for (name, value) in all {
            handle.take(name, value)?;
        }
        if let (Kind::S3, true, Ok(path)) = (kind, handle.authorities.is_empty(), std::env::var("AWS_CA_BUNDLE")) {
            if !path.is_empty() {
                handle.authorities = certificates_of("AWS_CA_BUNDLE", &path)?;
            }
        }
        if kind == Kind::S3 {
            handle.region = region_of_profile(handle.profile.as_deref());
        }
        handle.build()?; // So that a wrong option is an error here, not at the first call.
        Ok(handle)
    }

    fn take(&mut self, name: String, value: String) -> Result<(), Failure> {
        let invalid = || Failure::new(Code::InvalidArgument, format!("no such value: option={name}"));
        match name.as_str() {
            "path_style" => {
                let path_style: bool = value.parse().map_err(|_| invalid())?;
                self.options.push(("virtual_hosted_style_request".into(), (!path_style).to_string()));
            }
            "request_timeout_ms" => {
                self.request_limit = Duration::from_millis(value.parse().map_err(|_| invalid())?);
            }
            "upload_parts_above_bytes" => {
                let bytes: u64 = value.parse().map_err(|_| invalid())?;
                self.upload_parts_above_bytes = bytes.min(UPLOAD_PARTS_ABOVE_BYTES_MAX);
            }
            "ca_bundle" => self.authorities = certificates_of(&name, &value)?,
            "profile" => self.profile = Some(value),
            "part_bytes" => self.part_bytes = value.parse().ok().filter(|bytes| *bytes > 0).ok_or_else(invalid)?,
            _ => self.options.push((name, value)),
        }
        Ok(())
    }

    /// Azure and the directory buckets of S3 go on by a token of their own, and the latter in no order.
    pub fn lists_by_token(&self) -> bool {
        self.kind == Kind::Azure || (self.kind == Kind::S3 && self.bucket.ends_with("--x-s3"))
    }

    /// How long the parts are in which an object of `size` is to be uploaded; 0 where it goes in one piece.
    pub fn part_bytes_for(&self, size: u64) -> u64 {
        // GCS takes no condition with parts, and streams of any size as one.
        let in_parts = self.kind != Kind::Gcs && size > self.upload_parts_above_bytes;
        if in_parts {
            self.part_bytes
        } else {
            0
        }
    }

    /// The client of this process: a forked child has none of its parent's threads and makes its own.
    pub fn client(&self) -> Result<&Client, Failure> {
        let process = std::process::id();
        let current = self.client.load(Ordering::Acquire);
        // SAFETY: set only below, from a box; freed only with the handle.
        if let Some(client) = unsafe { current.as_ref() }.filter(|client| client.process == process) {
            return Ok(client);
        }
        let runtime = new_runtime().map_err(|error| Failure::new(Code::Unavailable, error.to_string()))?;
        let Built { store, signing, aws } = self.build()?;
        let made = Box::into_raw(Box::new(Client { process, runtime, store, signing, aws }));
        // What a parent had stays where it is: its runtime cannot be stopped from here.
        match self.client.compare_exchange(current, made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(unsafe { &*made }),
            Err(other) => {
                // SAFETY: `made` was given to nobody; `other` was set by another thread of this process.
                unsafe { Box::from_raw(made) }.runtime.shutdown_background();
                Ok(unsafe { &*other })
            }
        }
    }

    fn build(&self) -> Result<Built, Failure> {
        let built = match self.kind {
            Kind::S3 => self.build_s3(),
            Kind::Gcs => self.build_gcs(),
            Kind::Azure => self.build_azure(),
        };
        built.map_err(|error| of_client(&error, &self.bucket))
    }

    fn connector(&self) -> TracingConnector {
        TracingConnector { authorities: self.authorities.clone() }
    }

    fn build_s3(&self) -> object_store::Result<Built> {
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(&self.bucket);
        for (name, value) in &self.options {
            builder = builder.with_config(name.parse::<AmazonS3ConfigKey>()?, value);
        }
        if let (None, Some(region)) = (builder.get_config_value(&AmazonS3ConfigKey::Region), &self.region) {
            builder = builder.with_region(region);
        }
        // A checksum by the CRC instructions of client and server is as good against damage as SHA-256 by both.
        let is_ours = !self.lists_by_token()
            && builder.get_config_value(&AmazonS3ConfigKey::Checksum).is_none()
            && !self
                .options
                .iter()
                .any(|(name, _)| name.ends_with("unsigned_payload") || name.ends_with("request_payer"));
        if is_ours {
            builder = builder.with_unsigned_payload(true);
        }
        let value_of = |key| builder.get_config_value(&key);
        let is_given = value_of(AmazonS3ConfigKey::AccessKeyId).is_some() && self.profile.is_none();
        let allow_http = value_of(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
        check_endpoint("S3", value_of(AmazonS3ConfigKey::Endpoint), allow_http)?;
        let is_unsigned = value_of(AmazonS3ConfigKey::SkipSignature).is_some_and(|value| value == "true");
        let region = value_of(AmazonS3ConfigKey::Region).unwrap_or_else(|| "us-east-1".to_string());
        let mut aws = None;
        if !is_given && !is_unsigned {
            let chain = Arc::new(AwsChain::new(
                self.profile.clone(),
                value_of(AmazonS3ConfigKey::Region),
                self.authorities.clone(),
            ));
            builder = builder.with_credentials(chain.clone());
            aws = Some(chain);
        }
        let store = builder.with_retry(no_retry()).with_http_connector(self.connector()).build()?;
        let credentials = store.credentials().clone();
        let signing = (is_ours && !is_unsigned).then_some(Signing::Aws { region, credentials });
        Ok(Built { store: Arc::new(store), signing, aws })
    }

    fn build_gcs(&self) -> object_store::Result<Built> {
        const ALLOW_HTTP: GoogleConfigKey = GoogleConfigKey::Client(ClientConfigKey::AllowHttp);
        let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(&self.bucket);
        // The crate allows it of itself, as of no other store.
        builder = builder.with_config(ALLOW_HTTP, std::env::var("GOOGLE_ALLOW_HTTP").unwrap_or("false".into()));
        for (name, value) in &self.options {
            let name = if name == "endpoint" { "base_url" } else { name };
            builder = builder.with_config(name.parse::<GoogleConfigKey>()?, value);
        }
        let allow_http = builder.get_config_value(&ALLOW_HTTP);
        check_endpoint("GCS", builder.get_config_value(&GoogleConfigKey::BaseUrl), allow_http)?;
        // The crate asks for a token all the same, to write.
        if builder.get_config_value(&GoogleConfigKey::SkipSignature).is_some_and(|value| value == "true") {
            let nobody = GcpCredential { bearer: String::new() };
            builder = builder.with_credentials(Arc::new(StaticCredentialProvider::new(nobody)));
        }
        let store = builder.with_retry(no_retry()).with_http_connector(self.connector()).build()?;
        Ok(Built { store: Arc::new(store), signing: None, aws: None })
    }

    fn build_azure(&self) -> object_store::Result<Built> {
        let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(&self.bucket);
        for (name, value) in &self.options {
            builder = builder.with_config(name.parse::<AzureConfigKey>()?, value);
        }
        let allow_http = builder.get_config_value(&AzureConfigKey::Client(ClientConfigKey::AllowHttp));
        check_endpoint("Azure", builder.get_config_value(&AzureConfigKey::Endpoint), allow_http)?;
        let account = builder.get_config_value(&AzureConfigKey::AccountName).unwrap_or_default();
        let unsigned = builder.get_config_value(&AzureConfigKey::SkipSignature).is_some_and(|value| value == "true");
        let store = builder.with_retry(no_retry()).with_http_connector(self.connector()).build()?;
        let signing = Signing::Azure { account, credentials: store.credentials().clone() };
        Ok(Built { store: Arc::new(store), signing: (!unsigned).then_some(signing), aws: None })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let client = self.client.load(Ordering::Acquire);
        // SAFETY: from a box, and nobody calls any more. A parent's client is left alone.
        if unsafe { client.as_ref() }.is_some_and(|client| client.process == std::process::id()) {
            unsafe { Box::from_raw(client) }.runtime.shutdown_background();
        }
    }
}

fn new_runtime() -> std::io::Result<Runtime> {
    const THREADS_MAX: usize = 4; // Each moves more than a GB/s.
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    tokio::runtime::Builder::new_multi_thread().worker_threads(threads).thread_name("cloud").enable_all().build()
}

/// Without it the first request would fail, with words about schemes.
fn check_endpoint(
    store: &'static str,
    endpoint: Option<String>,
    allow_http: Option<String>,
) -> object_store::Result<()> {
    if !endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"))
        || allow_http.is_some_and(|value| value == "true")
    {
        return Ok(());
    }
    let source = "the endpoint is one of plain http, which nobody has asked for: use https, or say allow_http=true";
    Err(object_store::Error::Generic { store, source: source.into() })
}

/// Retries are made above, where it is known what may be repeated.
fn no_retry() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

/// What a file in the format PEM holds.
fn certificates_of(option: &str, path: &str) -> Result<Vec<Certificate>, Failure> {
    let invalid = |what: String| {
        let message = format!("{what}: it must be a file with certificates of authorities as PEM: {option}={path}");
        Failure::new(Code::InvalidArgument, message)
    };
    let bytes = std::fs::read(path).map_err(|error| invalid(error.to_string()))?;
    let certificates = Certificate::from_pem_bundle(&bytes).map_err(|error| invalid(error.to_string()))?;
    if certificates.is_empty() {
        return Err(invalid("no certificate".to_string()));
    }
    Ok(certificates)
}

fn is_secret(name: &str) -> bool {
    ["key", "secret", "token", "password", "sas"].iter().any(|word| name.contains(word))
        && !name.ends_with("_file")
        && !matches!(name.strip_prefix("aws_").unwrap_or(name), "sse_kms_key_id" | "sse_bucket_key_enabled")
}

/// Without user and query.
fn redacted(url: &str) -> &str {
    let end = url.find(['?', '#', '@']).unwrap_or(url.len());
    if url[end..].starts_with('@') {
        "(hidden: it holds an '@')"
    } else {
        &url[..end]
    }
}
