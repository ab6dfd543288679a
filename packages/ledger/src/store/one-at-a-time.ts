/** Runs work of the same name one at a time, in the order of the calls. Work of other names runs concurrently. */
export type OneAtATime = <T>(name: string, work: () => Promise<T>) => Promise<T>

/**
 * It works within this process only, so nothing may rely on it for correctness. It avoids transactions that make each other
 * fail: each failed one costs the database as much as one that succeeds.
 */
export function createOneAtATime(): OneAtATime {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const before = last.get(name) ?? Promise.resolve()
    const result = before.then(work, work)
    last.set(name, result)
    const forget = () => {
      if (last.get(name) === result) last.delete(name)
    }
    result.then(forget, forget)
    return result
  }
}
