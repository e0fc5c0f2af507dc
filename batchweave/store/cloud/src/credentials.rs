//! The credentials of S3 that are not simply given: from profiles, roles, SSO, commands, containers and machines, renewed
//! before they expire and when the server says that they have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use aws_config::default_provider::credentials::DefaultCredentialsChain;
use aws_config::meta::region::ProvideRegion;
use aws_config::profile::{ProfileFileCredentialsProvider, ProfileFileRegionProvider};
use aws_config::provider_config::ProviderConfig;
use aws_config::Region;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use aws_credential_types::Credentials;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use object_store::aws::AwsCredential;
use object_store::CredentialProvider;
use reqwest::Certificate;
use tokio::sync::{Mutex, OnceCell};

use crate::connector::client_builder;

/// They are renewed so long before their end, or a quarter of their life, if that is less.
const RENEW_BEFORE_END: Duration = Duration::from_secs(300);
/// For the whole answer of who gives them.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// Where renewing fails it is not tried again sooner.
const RENEW_AGAIN_AFTER: Duration = Duration::from_secs(5);

#[derive(Debug)]
struct Held {
    credential: Arc<AwsCredential>,
    end: Option<SystemTime>,
    renew_at: Option<SystemTime>,
}

/// Safe for concurrent use.
#[derive(Debug)]
pub struct AwsChain {
    profile: Option<String>,
    region: Option<String>,
    authorities: Vec<Certificate>,
    chain: OnceCell<SharedCredentialsProvider>,
    held: Mutex<Option<Held>>,
    rejected: AtomicBool,
}

impl AwsChain {
    pub fn new(profile: Option<String>, region: Option<String>, authorities: Vec<Certificate>) -> Self {
        let (chain, held, rejected) = (OnceCell::new(), Mutex::default(), AtomicBool::new(false));
        AwsChain { profile, region, authorities, chain, held, rejected }
    }

    /// The server says that they have expired: the next request gets new ones.
    pub fn reject(&self) {
        self.rejected.store(true, Ordering::Relaxed);
    }

    async fn load(&self) -> Result<Credentials, CredentialsError> {
        let make = || async {
            let http = Http::new(&self.authorities).map_err(CredentialsError::provider_error)?;
            let region = self.region.clone().map(Region::new);
            let config = ProviderConfig::default().with_region(region).with_http_client(http);
            Ok::<_, CredentialsError>(match &self.profile {
                Some(name) => SharedCredentialsProvider::new(
                    ProfileFileCredentialsProvider::builder().configure(&config).profile_name(name).build(),
                ),
                None => {
                    SharedCredentialsProvider::new(DefaultCredentialsChain::builder().configure(config).build().await)
                }
            })
        };
        self.chain.get_or_try_init(make).await?.provide_credentials().await
    }

    fn cannot_load(&self, error: &CredentialsError) -> object_store::Error {
        let mut text = match (error, &self.profile) {
            (CredentialsError::CredentialsNotLoaded(_), Some(name)) => {
                format!("no credentials in ~/.aws/config and ~/.aws/credentials: profile={name}")
            }
            (CredentialsError::CredentialsNotLoaded(_), None) => {
                "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile of ~/.aws, \
                 or give the machine a role"
                    .to_string()
            }
            _ => "no credentials could be had".to_string(),
        };
        let mut next = std::error::Error::source(error);
        while let Some(source) = next {
            text += &format!(": {source}");
            next = source.source();
        }
        object_store::Error::Unauthenticated { path: String::new(), source: text.into() }
    }
}

#[async_trait]
impl CredentialProvider for AwsChain {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let mut held = self.held.lock().await;
        let now = SystemTime::now();
        let rejected = self.rejected.swap(false, Ordering::Relaxed);
        if let Some(held) = held.as_ref() {
            if !rejected && held.renew_at.is_none_or(|at| now < at) {
                return Ok(held.credential.clone());
            }
        }
        match self.load().await {
            Ok(loaded) => {
                let credential = Arc::new(AwsCredential {
                    key_id: loaded.access_key_id().to_string(),
                    secret_key: loaded.secret_access_key().to_string(),
                    token: loaded.session_token().map(str::to_string),
                });
                let end = loaded.expiry();
                let renew_at = end.map(|end| {
                    let life = end.duration_since(now).unwrap_or_default();
                    end - RENEW_BEFORE_END.min(life / 4)
                });
                *held = Some(Held { credential: credential.clone(), end, renew_at });
                Ok(credential)
            }
            Err(error) => match held.as_mut().filter(|held| !rejected && held.end.is_none_or(|end| now < end)) {
                // They still hold for a while, and whoever gives new ones may come back.
                Some(held) => {
                    held.renew_at = Some(now + RENEW_AGAIN_AFTER);
                    Ok(held.credential.clone())
                }
                None => Err(self.cannot_load(&error)),
            },
        }
    }
}

/// What a profile says of the region: the named one, or that of `AWS_PROFILE`. Reads the files of ~/.aws.
pub fn region_of_profile(profile: Option<&str>) -> Option<String> {
    let mut builder = ProfileFileRegionProvider::builder();
    if let Some(name) = profile {
        builder = builder.profile_name(name);
    }
    let provider = builder.build();
    let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
    runtime.block_on(async { ProvideRegion::region(&provider).await }).map(|region| region.to_string())
}

/// Asks the services that give credentials. Those of the machine itself speak plain http, and stand before no proxy.
#[derive(Clone, Debug)]
struct Http {
    near: reqwest::Client,
    far: reqwest::Client,
}

impl Http {
    fn new(authorities: &[Certificate]) -> reqwest::Result<Self> {
        let builder = || client_builder(authorities).timeout(ANSWER_LIMIT);
        Ok(Http { near: builder().no_proxy().build()?, far: builder().https_only(true).build()? })
    }
}

impl HttpClient for Http {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Http {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let client = if request.uri().starts_with("http:") { self.near.clone() } else { self.far.clone() };
        HttpConnectorFuture::new(async move {
            let other = |error: Box<dyn std::error::Error + Send + Sync>| ConnectorError::other(error, None);
            let request = request.try_into_http1x().map_err(|error| other(error.into()))?;
            let (parts, body) = request.into_parts();
            let body = body.bytes().map(<[u8]>::to_vec).unwrap_or_default();
            let request = reqwest::Request::try_from(http::Request::from_parts(parts, body));
            let request = request.map_err(|error| other(error.into()))?;
            let io = |error: reqwest::Error| ConnectorError::io(error.without_url().into());
            let answer = client.execute(request).await.map_err(io)?;
            let (status, headers) = (answer.status(), answer.headers().clone());
            let body = answer.bytes().await.map_err(io)?;
            let mut response = http::Response::new(SdkBody::from(body));
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            HttpResponse::try_from(response).map_err(|error| other(error.into()))
        })
    }
}
