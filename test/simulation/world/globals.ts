/**
 * Replaces what is not repeatable in a program: time, random numbers and timers. Everything that a simulated process uses goes through its
 * ports; a direct use throws, so that it is found.
 */
import { registerHooks } from 'node:module'
import type { Random } from './random.ts'
import { countedImmediate } from './turns.ts'

let source: Random | undefined
let refills = 0

/** The random numbers of the run. */
export function useRandom(random: Random): void {
  source = random
}

/** How often the product asked for random bytes. */
export function countRefills(): number {
  return refills
}

/** Fills with the run's random numbers, in place of node:crypto's. */
export function fillRandom<T extends Uint8Array>(into: T): T {
  if (source === undefined) throw new Error('Random bytes were asked for outside of a run')
  refills += 1
  source.bytes(into)
  return into
}

/** The modules of Node that the product gets in another form. */
const REPLACED: Readonly<Record<string, string>> = {
  'node:crypto': './seeded-crypto.ts',
  crypto: './seeded-crypto.ts',
  'node:timers/promises': './counted-timers.ts',
}

/** Replaces modules of Node for the product's own code, in all modules that are imported afterwards. */
export function replaceModules(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const replacement = REPLACED[specifier]
      const parent = context.parentURL ?? ''
      const isProduct = !parent.includes('/node_modules/') && !parent.includes('/test/simulation/world/')
      if (replacement === undefined || !isProduct) return next(specifier, context)
      return { url: new URL(replacement, import.meta.url).href, shortCircuit: true, format: 'module-typescript' }
    },
  })
}

/** Time stands still outside of the ports: a direct use throws. */
export function forbidTime(now: () => number): void {
  const RealDate = Date
  const forbidden = (name: string) => () => {
    throw new Error(`${name} was used outside of the clock port`)
  }
  class VirtualDate extends RealDate {
    constructor(...values: unknown[]) {
      if (values.length === 0) super(now())
      else super(...(values as [number]))
    }
    static override now(): number {
      return now()
    }
  }
  globalThis.Date = VirtualDate as DateConstructor
  globalThis.setTimeout = forbidden('setTimeout') as never
  globalThis.setInterval = forbidden('setInterval') as never
  globalThis.setImmediate = countedImmediate
  Math.random = () => {
    if (source === undefined) throw new Error('Math.random was used outside of a run')
    return source.next()
  }
  performance.now = () => now()
}
