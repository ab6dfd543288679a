import { AppError } from './errors.ts'

export interface JoinOptions {
  /** Number of items from which on a joint run takes no further call; 500 by default. */
  readonly maxItems?: number
  /** Maximum number of joint runs at a time; further calls gather in the next one. A function gives the present one. No limit by default. */
  readonly maxRuns?: number | (() => number)
}

interface JointRun<T, R> {
  readonly calls: (readonly T[])[]
  readonly done: PromiseWithResolvers<R>
  items: number
}

/**
 * Joins the calls of one turn of the event loop into one run with the items of all of them, which costs the database
 * commands of one. They are, for example, the messages that a fetch brought of each partition, or requests that came
 * together.
 *
 * If a joint run fails, each call runs alone, so that an unusable item, or one that other writers change too, fails only
 * its own call. An unavailable dependency fails all calls at once. `run` must be idempotent.
 */
export function joinCalls<T, R>(
  run: (items: readonly T[]) => Promise<R>,
  { maxItems = 500, maxRuns = Number.POSITIVE_INFINITY }: JoinOptions = {},
): (items: readonly T[]) => Promise<R> {
  const limit = typeof maxRuns === 'number' ? () => maxRuns : maxRuns
  const waiting: JointRun<T, R>[] = []
  let running = 0
  return async items => {
    const joint = join(items)
    try {
      return await joint.done.promise
    } catch (error) {
      if (joint.calls.length === 1 || isOutage(error)) throw error
      return run(items)
    }
  }

  function join(items: readonly T[]): JointRun<T, R> {
    let joint = waiting.at(-1)
    if (joint === undefined || joint.items >= maxItems) {
      joint = { calls: [], done: Promise.withResolvers<R>(), items: 0 }
      waiting.push(joint)
      setImmediate(startNext)
    }
    joint.calls.push(items)
    joint.items += items.length
    return joint
  }

  function startNext(): void {
    // The limit may have risen by more than one.
    while (running < limit()) {
      const joint = waiting.shift()
      if (joint === undefined) return
      running++
      const ended = () => {
        running--
        startNext()
      }
      const result = run(joint.calls.flat())
      result.then(ended, ended)
      joint.done.resolve(result)
    }
  }
}

/**
 * Joins calls with one item each, like `joinCalls`; each gets the result of its own item.
 * @param run returns the result of each item, in their order. The same item may be there several times
 */
export function joinItems<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  options?: JoinOptions,
): (item: T) => Promise<R> {
  const call = joinCalls(async (items: readonly T[]) => {
    const results = await run(items)
    return new Map(items.map((item, index) => [item, results[index] as R]))
  }, options)
  return async item => (await call([item])).get(item) as R
}

function isOutage(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable'
}
