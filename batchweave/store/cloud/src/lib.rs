//! The C ABI over `object_store`: cloud_abi.h says what each function does.

mod calls;
mod connector;
mod credentials;
mod hedge;
mod open;
mod read;
mod unfinished;
mod upload;
mod verdict;

use std::ffi::c_void;

use open::Handle;
use read::{RangeRead, Target};
use upload::{Piece, Upload};
use verdict::{Code, Failure};

#[repr(C)]
pub struct BwcView {
    data: *const u8,
    size: usize,
}

impl BwcView {
    /// # Safety
    /// `data` has `size` bytes that nobody changes during the call.
    unsafe fn bytes(&self) -> &[u8] {
        if self.size == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(self.data, self.size)
        }
    }

    unsafe fn text(&self) -> Result<&str, Failure> {
        std::str::from_utf8(self.bytes()).map_err(|_| Failure::new(Code::InvalidArgument, "not UTF-8"))
    }
}

const MESSAGE_BYTES_MAX: usize = 496;

#[repr(C)]
pub struct BwcStatus {
    code: i32,
    retry_after_ms: u32,
    message_size: usize,
    message: [u8; MESSAGE_BYTES_MAX],
}

#[repr(C)]
pub struct BwcPart {
    pieces: *const BwcView,
    count: usize,
}

#[repr(C)]
pub struct BwcOption {
    name: BwcView,
    value: BwcView,
}

#[repr(C)]
pub struct BwcRead {
    key: BwcView,
    offset: u64,
    buffer: *mut u8,
    size: usize,
    observer: *mut c_void,
    on_bytes: Option<extern "C" fn(*mut c_void, *const u8, usize)>,
    received: usize,
    done: bool,
}

fn fill<T>(status: &mut BwcStatus, result: Result<T, Failure>) -> Option<T> {
    let failure = match result {
        Ok(value) => {
            status.code = 0;
            return Some(value);
        }
        Err(failure) => failure,
    };
    status.code = failure.code as i32;
    status.retry_after_ms = failure.retry_after.map_or(0, |wait| u32::try_from(wait.as_millis()).unwrap_or(u32::MAX));
    let size = failure.message.len().min(MESSAGE_BYTES_MAX);
    status.message[..size].copy_from_slice(&failure.message.as_bytes()[..size]);
    status.message_size = size;
    None
}

/// # Safety
/// For all functions: as cloud_abi.h says of its arguments.
#[no_mangle]
pub unsafe extern "C" fn bwc_open(
    url: BwcView,
    options: *const BwcOption,
    count: usize,
    status: &mut BwcStatus,
) -> *mut Handle {
    let opened = (|| {
        let mut pairs = Vec::new();
        for index in 0..count {
            let option = &*options.add(index);
            pairs.push((option.name.text()?.to_string(), option.value.text()?.to_string()));
        }
        Handle::open(url.text()?, pairs)
    })();
    fill(status, opened).map_or(std::ptr::null_mut(), |handle| Box::into_raw(Box::new(handle)))
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_close(handle: *mut Handle) {
    drop(Box::from_raw(handle));
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_lists_in_order(handle: &Handle) -> bool {
    !handle.lists_by_token()
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_put_bytes_max(_handle: &Handle) -> u64 {
    open::PUT_BYTES_MAX
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_put(
    handle: &Handle,
    key: BwcView,
    pieces: *const BwcView,
    count: usize,
    create: bool,
    status: &mut BwcStatus,
) {
    fill(status, key.text().and_then(|key| upload::put(handle, key, pieces_of(pieces, count), create)));
}

unsafe fn pieces_of(views: *const BwcView, count: usize) -> Vec<Piece> {
    let view = |index| &*views.add(index);
    (0..count).map(view).filter(|view| view.size > 0).map(|view| Piece { data: view.data, size: view.size }).collect()
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_part_bytes(handle: &Handle, size: u64) -> u64 {
    handle.part_bytes_for(size)
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_upload_begin(
    handle: &Handle,
    key: BwcView,
    parts: usize,
    status: &mut BwcStatus,
) -> *mut Upload {
    let begun = key.text().and_then(|key| upload::begin(handle, key, parts));
    fill(status, begun).map_or(std::ptr::null_mut(), |upload| Box::into_raw(Box::new(upload)))
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_upload_parts(
    handle: &Handle,
    upload: &Upload,
    parts: *const BwcPart,
    count: usize,
    status: &mut BwcStatus,
) {
    let part = |index| &*parts.add(index);
    let pieces = (0..count).map(part).map(|part: &BwcPart| pieces_of(part.pieces, part.count)).collect();
    fill(status, upload::put_parts(handle, upload, pieces));
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_upload_complete(handle: &Handle, upload: &Upload, create: bool, status: &mut BwcStatus) {
    fill(status, upload::complete(handle, upload, create));
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_upload_abort(handle: &Handle, upload: &Upload, status: &mut BwcStatus) {
    fill(status, upload::abort(handle, upload));
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_upload_free(upload: *mut Upload) {
    drop(Box::from_raw(upload));
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_unfinished_list(
    handle: &Handle,
    prefix: BwcView,
    context: *mut c_void,
    on_upload: extern "C" fn(*mut c_void, BwcView, BwcView),
    status: &mut BwcStatus,
) {
    let view = |text: &str| BwcView { data: text.as_ptr(), size: text.len() };
    let listed = prefix.text().and_then(|prefix| unfinished::list(handle, prefix));
    for upload in fill(status, listed).unwrap_or_default() {
        on_upload(context, view(&upload.key), view(&upload.id));
    }
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_unfinished_abort(handle: &Handle, key: BwcView, id: BwcView, status: &mut BwcStatus) {
    fill(status, key.text().and_then(|key| unfinished::abort(handle, key, id.text()?)));
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_reads(handle: &Handle, hedged: &mut u64) -> u64 {
    let (reads, hedges) = handle.hedges.counts();
    *hedged = hedges;
    reads
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_get(handle: &Handle, reads: *mut BwcRead, count: usize, status: &mut BwcStatus) {
    let got = (|| {
        let mut asked = Vec::new();
        for index in 0..count {
            let read = &*reads.add(index);
            let target =
                Target { buffer: read.buffer, size: read.size, observer: read.observer, on_bytes: read.on_bytes };
            asked.push(RangeRead { key: read.key.text()?.to_string(), offset: read.offset, target });
        }
        read::get(handle, asked)
    })();
    let got = got.unwrap_or_else(|failure| read::Got { received: Vec::new(), failure: Some(failure) });
    for (index, received) in got.received.iter().enumerate() {
        (*reads.add(index)).received = received.unwrap_or_default();
        (*reads.add(index)).done = received.is_some();
    }
    fill(status, got.failure.map_or(Ok(()), Err));
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_read(
    handle: &Handle,
    key: BwcView,
    context: *mut c_void,
    on_bytes: extern "C" fn(*mut c_void, *const u8, usize),
    status: &mut BwcStatus,
) {
    let read = key.text().and_then(|key| read::read(handle, key));
    for piece in fill(status, read).unwrap_or_default() {
        on_bytes(context, piece.as_ptr(), piece.len());
    }
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_stat(handle: &Handle, key: BwcView, status: &mut BwcStatus) -> u64 {
    fill(status, key.text().and_then(|key| read::stat(handle, key))).unwrap_or_default()
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_list(
    handle: &Handle,
    prefix: BwcView,
    start_after: BwcView,
    limit: usize,
    context: *mut c_void,
    on_object: extern "C" fn(*mut c_void, BwcView, u64),
    on_next: extern "C" fn(*mut c_void, BwcView),
    status: &mut BwcStatus,
) {
    let view = |text: &str| BwcView { data: text.as_ptr(), size: text.len() };
    let listed = (|| calls::list(handle, prefix.text()?, start_after.text()?, limit))();
    if let Some(page) = fill(status, listed) {
        for (key, size) in &page.objects {
            on_object(context, view(key), *size);
        }
        on_next(context, view(&page.next_start_after));
    }
}

/// # Safety
/// See `bwc_open`.
#[no_mangle]
pub unsafe extern "C" fn bwc_delete(
    handle: &Handle,
    keys: *const BwcView,
    done: *mut bool,
    count: usize,
    status: &mut BwcStatus,
) {
    let deleted = (|| {
        let mut names = Vec::new();
        for index in 0..count {
            names.push((*keys.add(index)).text()?);
        }
        calls::delete(handle, &names, std::slice::from_raw_parts_mut(done, count))
    })();
    fill(status, deleted);
}
