//! Functions of the host that scripts call. The VUs of a runtime share one of each, as a context of its own with them would
//! take 15 KiB more. So a function keeps nothing of a VU: it asks at each call who runs. Nor can scripts change one, which
//! other VUs would see.

use std::cell::RefCell;
use std::rc::Rc;

use hashbrown::HashMap;
use rquickjs::function::{IntoJsFunc, This};
use rquickjs::object::{AsProperty, Property, PropertyFlags};
use rquickjs::{
    qjs, Context, Ctx, Error, Function, IntoJs, Object, Result, Runtime, Undefined, Value,
};

use crate::runtime::raw::Held;
use crate::state::VuState;

/// What a function of the host does with its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Role {
    Do,
    Set,
}

/// Of what part of the host, the name, the role.
type Key = (&'static str, &'static str, Role);

/// The functions of a runtime.
pub struct HostFunctions {
    made: RefCell<HashMap<Key, Held>>,
    /// Whose they are in JavaScript's sense: no VU's.
    base: Context,
}

impl HostFunctions {
    pub fn new(runtime: &Runtime) -> Result<Self> {
        Ok(Self { made: RefCell::default(), base: Context::base(runtime)? })
    }

    pub fn base(&self) -> &Context {
        &self.base
    }

    fn get<'js, P>(
        &self,
        ctx: &Ctx<'js>,
        key: Key,
        function: impl IntoJsFunc<'js, P> + 'js,
    ) -> Result<Function<'js>> {
        if let Some(known) = self.made.borrow().get(&key) {
            return known.function(ctx);
        }
        // SAFETY: the base context lives as long as this, and only the thread's running VU is in the runtime.
        let base = unsafe { Ctx::from_raw(self.base.as_raw()) };
        let made = Function::new(base.clone(), function)?.with_name(key.1)?;
        // SAFETY: both are alive.
        if unsafe { qjs::JS_FreezeObject(base.as_raw().as_ptr(), made.as_raw()) } < 0 {
            return Err(Error::Allocation);
        }
        let held = Held::of(&made);
        let function = held.function(ctx);
        self.made.borrow_mut().insert(key, held);
        function
    }
}

/// What a part of the host gives a VU's context: functions that it shares, under the names of an object of the VU's own.
pub struct Natives<'js> {
    pub ctx: Ctx<'js>,
    pub vu: Rc<VuState>,
    pub object: Object<'js>,
    /// Whose functions these are.
    of: &'static str,
}

impl<'js> Natives<'js> {
    pub fn new(ctx: &Ctx<'js>, vu: &Rc<VuState>, of: &'static str) -> Result<Self> {
        Self::on(Object::new(ctx.clone())?, vu, of)
    }

    /// For an object that is there.
    pub fn on(object: Object<'js>, vu: &Rc<VuState>, of: &'static str) -> Result<Self> {
        Ok(Self { ctx: object.ctx().clone(), vu: vu.clone(), object, of })
    }

    /// A function, which may hold nothing of a context or a VU. What it does depends on its name only: another one of that
    /// name would not be made.
    fn function<P>(
        &self,
        name: &'static str,
        role: Role,
        function: impl IntoJsFunc<'js, P> + 'js,
    ) -> Result<Function<'js>> {
        self.vu
            .runtime
            .with_functions(|functions| functions.get(&self.ctx, (self.of, name, role), function))
    }

    /// Gives the object a function.
    pub fn add<P>(
        &self,
        name: &'static str,
        function: impl IntoJsFunc<'js, P> + 'js,
    ) -> Result<()> {
        self.object.set(name, self.function(name, Role::Do, function)?)
    }

    /// Gives the object a function that does not show when its properties are listed.
    pub fn add_hidden<P>(
        &self,
        name: &'static str,
        function: impl IntoJsFunc<'js, P> + 'js,
    ) -> Result<()> {
        self.object.prop(
            name,
            Property::from(self.function(name, Role::Do, function)?).writable().configurable(),
        )
    }

    /// Gives the object a property that is asked of the host.
    pub fn add_getter<P>(
        &self,
        name: &'static str,
        get: impl IntoJsFunc<'js, P> + 'js,
    ) -> Result<()> {
        self.object.prop(name, Accessor { get: self.function(name, Role::Do, get)?, set: None })
    }

    /// Gives the object a property that is asked of the host, until something is written there.
    pub fn add_until_set<P>(
        &self,
        name: &'static str,
        get: impl IntoJsFunc<'js, P> + 'js,
    ) -> Result<()> {
        let set = move |this: This<Object<'js>>, value: Value<'js>| settle(&this, name, value);
        let accessor = Accessor {
            get: self.function(name, Role::Do, get)?,
            set: Some(self.function(name, Role::Set, set)?),
        };
        self.object.prop(name, accessor)
    }
}

/// Puts a value in the place of a property that was asked of the host.
pub fn settle<'js>(object: &Object<'js>, name: &str, value: Value<'js>) -> Result<()> {
    object.prop(name, Property::from(value).writable().enumerable().configurable())
}

/// A property of functions that are there.
struct Accessor<'js> {
    get: Function<'js>,
    set: Option<Function<'js>>,
}

impl<'js> AsProperty<'js, ()> for Accessor<'js> {
    fn config(self, ctx: &Ctx<'js>) -> Result<(PropertyFlags, Value<'js>, Value<'js>, Value<'js>)> {
        let has_set = if self.set.is_some() { qjs::JS_PROP_HAS_SET } else { 0 };
        let enumerable = qjs::JS_PROP_HAS_ENUMERABLE | qjs::JS_PROP_ENUMERABLE;
        let flags = qjs::JS_PROP_HAS_GET
            | has_set
            | enumerable
            | qjs::JS_PROP_HAS_CONFIGURABLE
            | qjs::JS_PROP_CONFIGURABLE;
        let set = self.set.map_or_else(|| Undefined.into_js(ctx), |set| Ok(set.into_value()))?;
        Ok((flags as PropertyFlags, Undefined.into_js(ctx)?, self.get.into_value(), set))
    }
}
