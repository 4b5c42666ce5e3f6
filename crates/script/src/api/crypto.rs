//! `k6/crypto`: hashes and HMAC (RFC 2104).

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine;
use hmac::digest::common::BlockSizeUser;
use hmac::digest::{Digest, Mac};
use hmac::{KeyInit, SimpleHmac};
use rquickjs::function::Opt;
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use crate::api::encoding::engine;
use crate::api::random;
use crate::runtime::host::Natives;
use crate::runtime::intrinsics;
use crate::values::{bytes_of, named};

/// A hash or an HMAC that is being computed; its digest may be read at any time.
trait Running {
    fn update(&mut self, bytes: &[u8]);
    fn digest(&self) -> Vec<u8>;
}

struct Hashing<D>(D);

impl<D: Digest + Clone> Running for Hashing<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().to_vec()
    }
}

struct Authenticating<D: Digest + BlockSizeUser>(SimpleHmac<D>);

impl<D: Digest + BlockSizeUser + Clone> Running for Authenticating<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn digest(&self) -> Vec<u8> {
        self.0.clone().finalize().into_bytes().to_vec()
    }
}

fn start<D: Digest + BlockSizeUser + Clone + 'static>(
    key: Option<&[u8]>,
) -> Option<Box<dyn Running>> {
    Some(match key {
        None => Box::new(Hashing(D::new())),
        // A key of HMAC may have any length.
        Some(key) => Box::new(Authenticating::<D>(SimpleHmac::new_from_slice(key).ok()?)),
    })
}

/// The algorithm by k6's name, with a key as HMAC.
fn begin(algorithm: &str, key: Option<&[u8]>) -> Option<Box<dyn Running>> {
    match algorithm {
        "md4" => start::<md4::Md4>(key),
        "md5" => start::<md5::Md5>(key),
        "sha1" => start::<sha1::Sha1>(key),
        "sha256" => start::<sha2::Sha256>(key),
        "sha384" => start::<sha2::Sha384>(key),
        "sha512" => start::<sha2::Sha512>(key),
        "sha512_224" => start::<sha2::Sha512_224>(key),
        "sha512_256" => start::<sha2::Sha512_256>(key),
        "ripemd160" => start::<ripemd::Ripemd160>(key),
        _ => None,
    }
}

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    let hash = |ctx: Ctx<'js>,
                algorithm: String,
                input: Value<'js>,
                encoding: Value<'js>|
     -> Result<Value<'js>> {
        let mut running = known(&ctx, &algorithm, None)?;
        running.update(&bytes_of(&ctx, &input, &format!("{algorithm}()"))?);
        encoded(&ctx, running.digest(), &encoding)
    };
    natives.add("hash", hash)?;
    let hmac = |ctx: Ctx<'js>,
                algorithm: String,
                secret: Value<'js>,
                input: Value<'js>,
                encoding: Value<'js>|
     -> Result<Value<'js>> {
        let mut running =
            known(&ctx, &algorithm, Some(&bytes_of(&ctx, &secret, "the secret of hmac()")?))?;
        running.update(&bytes_of(&ctx, &input, "hmac()")?);
        encoded(&ctx, running.digest(), &encoding)
    };
    natives.add("hmac", hmac)?;
    natives.add("createHash", |ctx: Ctx<'js>, algorithm: String| {
        hasher(&ctx, known(&ctx, &algorithm, None)?)
    })?;
    let create_hmac =
        |ctx: Ctx<'js>, algorithm: String, secret: Value<'js>| -> Result<Object<'js>> {
            let secret = bytes_of(&ctx, &secret, "the secret of createHMAC()")?;
            hasher(&ctx, known(&ctx, &algorithm, Some(&secret))?)
        };
    natives.add("createHMAC", create_hmac)?;
    let hex_encode = |ctx: Ctx<'js>, input: Value<'js>| {
        Ok::<_, rquickjs::Error>(hex(&bytes_of(&ctx, &input, "hexEncode()")?))
    };
    natives.add("hexEncode", hex_encode)?;
    let random_bytes = |ctx: Ctx<'js>, size: f64| -> Result<ArrayBuffer<'js>> {
        let size = count_of_bytes(size).map_err(|what| Exception::throw_range(&ctx, &what))?;
        intrinsics::buffer(&ctx, &random::bytes(&ctx, size)?)
    };
    natives.add("randomBytes", random_bytes)
}

/// How many bytes randomBytes() makes.
fn count_of_bytes(size: f64) -> std::result::Result<usize, String> {
    let most = u32::MAX;
    if (1.0..=f64::from(most)).contains(&size) {
        return Ok(size as usize);
    }
    let given = if size.abs() < 1e15 { size.to_string() } else { format!("{size:e}") };
    Err(format!("randomBytes({given}): give a number of bytes from 1 to {most}"))
}

fn known(ctx: &Ctx<'_>, algorithm: &str, key: Option<&[u8]>) -> Result<Box<dyn Running>> {
    begin(algorithm, key).ok_or_else(|| {
        let names = "md4, md5, sha1, sha256, sha384, sha512, sha512_224, sha512_256 and ripemd160";
        Exception::throw_message(
            ctx,
            &format!("invalid algorithm: '{algorithm}'; known are {names}"),
        )
    })
}

/// k6's Hasher: `update` and `digest`, which may follow each other in any order.
fn hasher<'js>(ctx: &Ctx<'js>, running: Box<dyn Running>) -> Result<Object<'js>> {
    let running = Rc::new(RefCell::new(running));
    let object = Object::new(ctx.clone())?;
    let updated = running.clone();
    let update = move |ctx: Ctx<'js>, input: Value<'js>| -> Result<()> {
        updated.borrow_mut().update(&bytes_of(&ctx, &input, "update()")?);
        Ok(())
    };
    object.set("update", Function::new(ctx.clone(), update)?)?;
    let digest = move |ctx: Ctx<'js>, encoding: Opt<Value<'js>>| {
        let encoding = encoding.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        encoded(&ctx, running.borrow().digest(), &encoding)
    };
    object.set("digest", Function::new(ctx.clone(), digest)?)?;
    Ok(object)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| {
            [DIGITS[usize::from(byte >> 4)] as char, DIGITS[usize::from(byte & 15)] as char]
        })
        .collect()
}

/// A digest in the encoding that a script asks for.
fn encoded<'js>(ctx: &Ctx<'js>, digest: Vec<u8>, encoding: &Value<'js>) -> Result<Value<'js>> {
    let name = encoding.as_string().map(|name| name.to_string()).transpose()?.unwrap_or_default();
    match name.as_str() {
        "hex" => hex(&digest).into_js(ctx),
        "base64" => engine("std").encode(digest).into_js(ctx),
        "base64url" => engine("url").encode(digest).into_js(ctx),
        "base64rawurl" => engine("rawurl").encode(digest).into_js(ctx),
        "binary" => intrinsics::buffer(ctx, &digest).map(ArrayBuffer::into_value),
        _ => {
            let known = "'hex', 'base64', 'base64url', 'base64rawurl' and 'binary'";
            Err(Exception::throw_message(
                ctx,
                &format!("invalid output encoding: {}; known are {known}", named(encoding)),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(algorithm: &str, key: Option<&[u8]>, input: &[u8]) -> String {
        let mut running = begin(algorithm, key).unwrap();
        running.update(input);
        hex(&running.digest())
    }

    #[test]
    fn the_digests_of_abc_are_those_of_their_standards() {
        for (algorithm, digest) in [
            ("md4", "a448017aaf21d8525fc10ae87aa6729d"), // RFC 1320
            ("md5", "900150983cd24fb0d6963f7d28e17f72"), // RFC 1321
            ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"), // RFC 3174
            ("ripemd160", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"), // ISO/IEC 10118-3
            ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), // FIPS 180-4, here and below
            ("sha512_224", "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"),
            ("sha512_256", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        ] {
            assert_eq!(hashed(algorithm, None, b"abc"), digest, "{algorithm}");
        }
        assert!(begin("sha3", None).is_none());
    }

    #[test]
    fn the_vectors_of_rfc_4231_and_rfc_2202_hold() {
        let (key, input) = ([0x0b; 20], b"Hi There");
        let sha256 = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(hashed("sha256", Some(&key), input), sha256);
        assert_eq!(hashed("sha1", Some(&key), input), "b617318655057264e28bc0b6fb378c8ef146be00");
        let long_key = [0xaa; 131];
        let long = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";
        assert_eq!(
            hashed(
                "sha256",
                Some(&long_key),
                b"Test Using Larger Than Block-Size Key - Hash Key First"
            ),
            long
        );
    }

    #[test]
    fn a_digest_does_not_end_the_hash() {
        let mut running = begin("md5", None).unwrap();
        running.update(b"ab");
        running.digest();
        running.update(b"c");
        assert_eq!(hex(&running.digest()), hashed("md5", None, b"abc"));
    }

    #[test]
    fn a_count_of_bytes_that_cannot_be_is_told_with_the_greatest() {
        assert_eq!((count_of_bytes(1.0), count_of_bytes(32.9)), (Ok(1), Ok(32)));
        for (size, shown) in [
            (0.0, "0"),
            (-1.0, "-1"),
            (f64::NAN, "NaN"),
            (1e300, "1e300"),
            (1_099_511_627_776.0, "1099511627776"),
        ] {
            let what = count_of_bytes(size).unwrap_err();
            assert_eq!(
                what,
                format!("randomBytes({shown}): give a number of bytes from 1 to 4294967295")
            );
        }
    }
}
