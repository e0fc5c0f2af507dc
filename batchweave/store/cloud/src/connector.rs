//! The HTTP client under `object_store`: sends each request once, and notes what became of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{AUTHORIZATION, DATE, RETRY_AFTER, SERVER};
use http::{HeaderName, HeaderValue};
use object_store::aws::{AwsAuthorizer, AwsCredential};
use object_store::azure::{AzureAuthorizer, AzureCredential};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};
use reqwest::Certificate;

const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// Shorter than the least time after which common servers and balancers drop an idle connection.
const IDLE_LIMIT: Duration = Duration::from_secs(15);

/// What became of the last request of one call.
#[derive(Clone, Debug, Default)]
pub struct Fate {
    /// The request may have reached the server.
    pub sent: bool,
    pub status: Option<u16>,
    pub retry_after: Option<Duration>,
    /// Azure's name of the error, which it gives in a header.
    pub azure_code: Option<String>,
    pub is_minio: bool,
    /// How the connection failed.
    pub broken: Option<String>,
    /// The request went over plain http.
    pub is_plain: bool,
}

/// What a request says besides what `object_store` can be told.
#[derive(Debug, Default)]
pub struct Extra {
    /// In place of the query that it has. The answer is then kept for the caller, and `object_store` gets an empty list.
    pub query: Option<String>,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Where the signature covers them.
    pub signer: Option<Signer>,
}

/// Signs anew what `object_store` has signed already.
#[derive(Debug)]
pub enum Signer {
    Azure {
        account: String,
        key: Arc<AzureCredential>,
    },
    /// `sum` is SHA-256 of the payload, where the signature is to cover it.
    Aws {
        region: String,
        key: Arc<AwsCredential>,
        sum: Option<Vec<u8>>,
    },
}

impl Extra {
    fn add_to(&self, request: &mut HttpRequest) -> object_store::Result<()> {
        if let Some(query) = &self.query {
            let invalid = |error: http::Error| object_store::Error::Generic { store: "S3", source: error.into() };
            let mut parts = request.uri().clone().into_parts();
            let path_and_query = format!("{}?{query}", request.uri().path());
            parts.path_and_query = Some(path_and_query.parse().map_err(|error| invalid(http::Error::from(error)))?);
            *request.uri_mut() = http::Uri::from_parts(parts).map_err(|error| invalid(error.into()))?;
        }
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
        let Some(signer) = &self.signer else { return Ok(()) };
        request.headers_mut().remove(AUTHORIZATION);
        match signer {
            Signer::Azure { account, key } => AzureAuthorizer::new(key, account).try_authorize(request)?,
            Signer::Aws { region, key, sum } => {
                let authorizer = AwsAuthorizer::new(key, "s3", region).with_sign_payload(sum.is_some());
                // They are part of what is signed, and set again.
                for name in ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token"] {
                    request.headers_mut().remove(name);
                }
                authorizer.try_authorize(request, sum.as_deref())?;
            }
        }
        Ok(())
    }
}

/// Goes with a request in its extensions, so that those of credential providers are told apart.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    fate: Arc<Mutex<Fate>>,
    extra: Arc<Extra>,
    kept: Arc<Mutex<Bytes>>,
}

impl Trace {
    pub fn with(extra: Extra) -> Self {
        Trace { extra: Arc::new(extra), ..Trace::default() }
    }

    pub fn fate(&self) -> Fate {
        self.fate.lock().unwrap().clone()
    }

    /// The body of the answer, where the query was another's.
    pub fn kept(&self) -> Bytes {
        self.kept.lock().unwrap().clone()
    }

    /// Takes the body away.
    async fn keep(&self, response: HttpResponse) -> Result<HttpResponse, HttpError> {
        if self.extra.query.is_none() || !response.status().is_success() {
            return Ok(response);
        }
        let (head, body) = response.into_parts();
        *self.kept.lock().unwrap() = body.bytes().await?;
        Ok(HttpResponse::from_parts(head, Bytes::from_static(b"<ListBucketResult></ListBucketResult>").into()))
    }

    pub fn extensions(&self) -> http::Extensions {
        let mut extensions = http::Extensions::new();
        extensions.insert(self.clone());
        extensions
    }

    fn answered(&self, response: &HttpResponse) {
        let text = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_string());
        *self.fate.lock().unwrap() = Fate {
            sent: true,
            status: Some(response.status().as_u16()),
            retry_after: text(RETRY_AFTER.as_str()).and_then(|value| wait_of(&value, text(DATE.as_str()))),
            azure_code: text("x-ms-error-code"),
            is_minio: text(SERVER.as_str()).is_some_and(|name| name == "MinIO"),
            ..Fate::default()
        };
    }

    fn broke(&self, error: &HttpError) {
        let sent = error.kind() != HttpErrorKind::Connect && !never_connected(error);
        let mut fate = self.fate.lock().unwrap();
        *fate = Fate { sent, broken: Some(innermost(error)), is_plain: fate.is_plain, ..Fate::default() };
    }

    fn begins(&self, request: &HttpRequest) {
        let is_plain = request.uri().scheme_str() == Some("http");
        *self.fate.lock().unwrap() = Fate { sent: true, is_plain, ..Fate::default() };
    }
}

tokio::task_local! {
    /// For the calls whose requests cannot be given extensions.
    pub static CALL_TRACE: Trace;
}

/// Of `Retry-After`: seconds, or when, by the clock of the server, which says in `Date` what it shows.
fn wait_of(value: &str, date: Option<String>) -> Option<Duration> {
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time_of = |text: &str| chrono::DateTime::parse_from_rfc2822(text).ok();
    (time_of(value)? - time_of(&date?)?).to_std().ok()
}

/// A connection that is not there in time is a timeout to `object_store`; nothing was sent all the same.
fn never_connected(error: &HttpError) -> bool {
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        if source.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_connect) {
            return true;
        }
        next = source.source();
    }
    false
}

/// The message at the end of the chain of sources, which says most; the outer ones may hold URLs.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

#[derive(Debug)]
struct TracingService(reqwest::Client);

#[async_trait]
impl HttpService for TracingService {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let trace = request.extensions().get::<Trace>().cloned();
        let trace = trace.unwrap_or_else(|| CALL_TRACE.try_with(Trace::clone).unwrap_or_default());
        trace.extra.add_to(&mut request).map_err(|error| HttpError::new(HttpErrorKind::Request, error))?;
        trace.begins(&request);
        let result = self.0.call(request).await;
        match &result {
            Ok(response) => trace.answered(response),
            Err(error) => trace.broke(error),
        }
        trace.keep(result?).await
    }
}

/// Of a client that follows no redirect (a redirected PUT would become a GET, and its 200 look like a success) and repeats
/// nothing. Besides the machine's own authorities it trusts those whose certificates these are.
pub fn client_builder(authorities: &[Certificate]) -> reqwest::ClientBuilder {
    // Fails where it is installed already: then there is one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_LIMIT)
        .pool_idle_timeout(IDLE_LIMIT)
        .http1_only()
        .tls_certs_merge(authorities.iter().cloned())
        .user_agent(concat!("batchweave/", env!("CARGO_PKG_VERSION")))
}

#[derive(Debug)]
pub struct TracingConnector {
    pub authorities: Vec<Certificate>,
}

impl HttpConnector for TracingConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allow_http = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|value| value == "true");
        let client = client_builder(&self.authorities)
            .https_only(!allow_http)
            .build()
            .map_err(|source| object_store::Error::Generic { store: "HTTP", source: Box::new(source) })?;
        Ok(HttpClient::new(TracingService(client)))
    }
}
