import type { ServiceInstance } from '../../test/setup/service-alone.ts'

const EVERY_MS = 500

/** Reads the used heap of each process until it is stopped. @returns a function that stops it, and returns the largest value in MB */
export function watchHeap(instances: readonly Pick<ServiceInstance, 'heapBytes'>[]): () => Promise<number> {
  let largest = 0
  let reading = Promise.resolve()
  const read = async () => {
    const all = await Promise.all(instances.map(({ heapBytes }) => heapBytes()))
    largest = Math.max(largest, ...all)
  }
  const timer = setInterval(() => {
    reading = read()
  }, EVERY_MS)
  return async () => {
    clearInterval(timer)
    await reading
    return largest / 2 ** 20
  }
}
