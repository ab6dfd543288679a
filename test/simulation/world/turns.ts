/**
 * How the simulation waits until the program has done everything that it can do without time. Promises and ticks alone are fast; requests
 * over HTTP and `setImmediate` need turns of the event loop, which take fifty times as long, so they are counted.
 */
const { setImmediate: nextTurn } = globalThis
let open = 0

/** Begins something that needs turns of the event loop. @returns a function that ends it */
export function needTurns(): () => void {
  open += 1
  let isOpen = true
  return () => {
    if (isOpen) open -= 1
    isOpen = false
  }
}

/** As Node's `setImmediate`, counted. */
export const countedImmediate = ((act: (...values: unknown[]) => void, ...values: unknown[]) => {
  const end = needTurns()
  return nextTurn(() => {
    end()
    act(...values)
  })
}) as typeof setImmediate

/** Resolves when all promises, ticks and counted turns that need no time have settled. */
export function settle(): Promise<void> {
  return new Promise(resolve => void (open > 0 ? nextTurn(() => afterTurn(resolve)) : afterTicks(resolve)))
}

/** One turn is enough for what the last event began; a request goes on while virtual time does. */
function afterTurn(resolve: () => void): void {
  if (open > 0) nextTurn(resolve)
  else resolve()
}

/** The queue of promises is emptied before the next tick. Twice, because a tick can settle promises too. */
function afterTicks(resolve: () => void): void {
  const tick = (next: () => void) => queueMicrotask(() => process.nextTick(next))
  tick(() => tick(() => (open > 0 ? nextTurn(resolve) : resolve())))
}
