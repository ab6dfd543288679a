/**
 * Shifts `Date`, the wall clock, in a process that loads this file by `node --import`. The monotonic clock and the timers are
 * unchanged, as on a host whose clock was set wrong.
 */
const aheadMs = Number(new URL(import.meta.url).searchParams.get('aheadMs') ?? 0)
const RealDate = Date
const now = () => RealDate.now() + aheadMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
})

/** The environment of a process whose clock is ahead by `ms`, or behind if `ms` is negative. */
export function shiftedBy(ms: number): { NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `--import ${new URL(`?aheadMs=${ms}`, import.meta.url).href}` }
}
