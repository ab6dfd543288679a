import { isRetryable } from '../errors.ts'

/** Number of items from which on a joint run takes no further call. */
const MAX_ITEMS = 500

interface JointRun<T, R> {
  readonly calls: (readonly T[])[]
  readonly result: Promise<R>
}

/**
 * Joins the calls of one turn of the event loop into one run with the items of all of them. At a low rate a fetch brings
 * a few messages of each partition; handled together, they cost the database commands of one batch.
 *
 * If a joint run fails with an error that is not retryable, each call runs alone, so that an unusable item fails only
 * its own call. `run` must be idempotent.
 */
export function joinCalls<T, R>(run: (items: readonly T[]) => Promise<R>): (items: readonly T[]) => Promise<R> {
  let open: JointRun<T, R> | undefined
  return async items => {
    const joint = open ?? begin()
    joint.calls.push(items)
    if (joint.calls.reduce((sum, call) => sum + call.length, 0) >= MAX_ITEMS) open = undefined
    try {
      return await joint.result
    } catch (error) {
      if (joint.calls.length === 1 || isRetryable(error)) throw error
      return run(items)
    }
  }

  function begin(): JointRun<T, R> {
    const calls: (readonly T[])[] = []
    const endOfTurn = new Promise<void>(resolve => setImmediate(resolve))
    const joint = {
      calls,
      result: endOfTurn.then(() => {
        if (open === joint) open = undefined
        return run(calls.flat())
      }),
    }
    open = joint
    return joint
  }
}
