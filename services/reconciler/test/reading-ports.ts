import { createEgress, createSecretBox, type Logger, parseKeyRing, Secret } from '@backstop/kit'
import type { ReconcilerPorts, ReconcilerSettings } from '../src/app.ts'

/** The key ring that connections of tests are sealed with. */
export const TEST_KEYS = parseKeyRing(new Secret(`test:${Buffer.alloc(32, 7).toString('base64')}`))

/** The ports that read providers, which listen on loopback in tests. */
export function readingPorts(logger: Logger): Pick<ReconcilerPorts, 'egress' | 'secretBox' | 'random'> {
  return {
    egress: createEgress({ allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger }),
    secretBox: createSecretBox(TEST_KEYS),
    random: Math.random,
  }
}

export const TEST_SETTINGS: ReconcilerSettings = { recheckDelayMs: 60_000, sweepEveryMs: 60_000, leaseHolder: 'test' }
