import { createEgress, createSecretBox, type Logger, parseKeyRing, Secret } from '@backstop/kit'
import type { ReconcilerPorts } from '../src/app.ts'

/** The key ring that connections of tests are sealed with. */
export const TEST_KEYS = parseKeyRing(new Secret(`test:${Buffer.alloc(32, 7).toString('base64')}`))

/** What asks the providers, where they are on loopback. */
export function readingPorts(
  logger: Logger,
): Pick<ReconcilerPorts, 'sweepEveryMs' | 'instance' | 'egress' | 'secretBox' | 'random'> {
  return {
    sweepEveryMs: 60_000,
    instance: 'test',
    egress: createEgress({ allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger }),
    secretBox: createSecretBox(TEST_KEYS),
    random: Math.random,
  }
}
