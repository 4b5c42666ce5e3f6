const { setTimeout, clearTimeout, setInterval, clearInterval } = import.meta.native;

export { setTimeout, clearTimeout, setInterval, clearInterval };
export default { setTimeout, clearTimeout, setInterval, clearInterval };
