import crypto from 'node:crypto'
import { fillRandom } from './globals.ts'

/** node:crypto with the random numbers of the run. */
export * from 'node:crypto'
export const randomBytes = (length: number): Buffer => fillRandom(Buffer.alloc(length))
export const randomFillSync = fillRandom
export const randomUUID = (): string => {
  const hex = randomBytes(16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}
export const randomInt = (min: number, max: number): number => min + (randomBytes(4).readUInt32BE() % (max - min))
// biome-ignore lint/style/noDefaultExport: Node's module has one, and libraries import it
export default { ...crypto, randomBytes, randomFillSync, randomUUID, randomInt }
