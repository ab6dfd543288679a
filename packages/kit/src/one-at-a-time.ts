/** Runs work of the same name one at a time, in the order of the calls. Work of other names runs concurrently. */
export type OneAtATime = <T>(name: string, work: () => Promise<T>) => Promise<T>

/**
 * Works within this process only, so correctness must not depend on it. It avoids transactions that make each other
 * fail, because a failed transaction costs the database as much as a successful one.
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
