/** Runs work of the same name one after the other, in the order in which it came; work of other names goes on beside it. */
export type OneAtATime = <T>(name: string, work: () => Promise<T>) => Promise<T>

/**
 * Within this process only: what must hold between processes is not its business. It spares the database transactions that
 * would fail because of each other, each of which costs as much as one that succeeds.
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
