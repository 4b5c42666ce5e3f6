//! `k6/experimental/fs`: files that are read in parts; their bytes are in memory once per run.

use std::path::Path;

use rquickjs::{Array, Ctx, Result, TypedArray, Value};

use crate::modules;
use crate::runtime::host::Natives;
use crate::state::VuState;
use crate::values::throw_named;

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives
        .add("open", |ctx: Ctx<'js>, path: String| open(&ctx, &*VuState::running(&ctx)?, &path))?;
    natives.add("read", |ctx: Ctx<'js>, path: String, offset: usize, into: Value<'js>| {
        read(&ctx, &*VuState::running(&ctx)?, &path, offset, into)
    })
}

/// `[path, name, size]` of a file, whose bytes are in memory from then on.
fn open<'js>(ctx: &Ctx<'js>, vu: &VuState, name: &str) -> Result<Array<'js>> {
    if !vu.in_init.get() {
        let what = "open() works only in the init context; open the file at the top of the script";
        return Err(throw_named(ctx, "ForbiddenError", what));
    }
    let path = modules::path_for_open(vu, ctx, name);
    if path.is_dir() {
        return Err(throw_named(
            ctx,
            "InvalidResourceError",
            &format!("cannot open '{}': it is a folder; give a file of it", path.display()),
        ));
    }
    let bytes = vu.bundle.read(&path).map_err(|error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound {
            "NotFoundError"
        } else {
            "InvalidResourceError"
        };
        throw_named(
            ctx,
            kind,
            &format!(
                "open('{name}'): {}: {error}; a path is relative to the file whose top level runs",
                path.display()
            ),
        )
    })?;
    let file = Array::new(ctx.clone())?;
    file.set(0, path.to_string_lossy().as_ref())?;
    file.set(1, path.file_name().unwrap_or_default().to_string_lossy().as_ref())?;
    file.set(2, bytes.len())?;
    Ok(file)
}

/// Copies from `offset` on into a Uint8Array; how many bytes.
fn read<'js>(
    ctx: &Ctx<'js>,
    vu: &VuState,
    path: &str,
    offset: usize,
    into: Value<'js>,
) -> Result<usize> {
    let Ok(target) = TypedArray::<u8>::from_value(into) else {
        return Err(rquickjs::Exception::throw_type(
            ctx,
            "read() wants a Uint8Array to read into, as in new Uint8Array(1024)",
        ));
    };
    let bytes = vu
        .bundle
        .read(Path::new(path))
        .map_err(|error| throw_named(ctx, "InvalidResourceError", &format!("{path}: {error}")))?;
    let Some(room) = target.as_raw() else {
        return Ok(0);
    };
    let part = bytes.get(offset..).unwrap_or_default();
    let count = part.len().min(room.len());
    // SAFETY: the array has room for that many bytes, and no JavaScript runs while they are written.
    unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), room.cast::<u8>().as_ptr(), count) };
    Ok(count)
}
