import { type Environment, setting } from '@backstop/kit/config'
import { keyRingSetting } from '@backstop/kit/secret-box'
import { commonSettings, egressSettings, readServiceConfig } from '@backstop/kit/service'

/** The reconciler's settings by their environment names. `.env.example` describes each setting. */
export const settings = {
  ...commonSettings,
  SECRET_KEYS: keyRingSetting(),
  ...egressSettings,
  RECHECK_DELAY_MS: setting
    .integer(60_000, 0, 86_400_000)
    .describe('Time from the first record of an unexplained action to its second look'),
  SWEEP_EVERY_MS: setting
    .integer(300_000, 1_000, 86_400_000)
    .describe("Time between two sweeps of one billing connection's data at its provider"),
} as const

/** @throws AppError `config_invalid` with every fault */
export function readReconcilerConfig(environment: Environment) {
  return readServiceConfig(settings, environment)
}
