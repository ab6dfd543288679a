import { Secret } from '@backstop/kit/config'
import { createEgress } from '@backstop/kit/egress'
import type { Logger } from '@backstop/kit/logger'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import type { ReconcilerPorts, ReconcilerSettings } from '../src/app.ts'

/** The key ring that encrypts the keys of test connections. */
export const TEST_KEYS = parseKeyRing(new Secret(`test:${Buffer.alloc(32, 7).toString('base64')}`))

/** The ports for reading providers. In tests the providers listen on loopback. */
export function readingPorts(logger: Logger): Pick<ReconcilerPorts, 'egress' | 'secretBox' | 'random'> {
  return {
    egress: createEgress({ allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger }),
    secretBox: createSecretBox(TEST_KEYS),
    random: Math.random,
  }
}

export const TEST_SETTINGS: ReconcilerSettings = { recheckDelayMs: 60_000, sweepEveryMs: 60_000, leaseHolder: 'test' }
