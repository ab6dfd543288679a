/**
 * The network-policy check: runs in a pod under the notifier's policy and tries to connect to forbidden targets.
 * Exit codes: 0 if all targets are blocked, 1 if one is reachable, 78 for a configuration error.
 */
import { AppError } from '@backstop/kit/errors'
import { readNetworkPolicyConfig } from './config.ts'
import { checkNetworkPolicy } from './network-policy/check-network-policy.ts'

const EXIT_CONFIG = 78
const CONNECT_TIMEOUT_MS = 3_000
/** Time limit for policies to take effect, in milliseconds. Network plug-ins that enforce late do so within seconds. */
const GRACE_PERIOD_MS = 60_000
const INTERVAL_MS = 2_000

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

// The first process of a container gets no default signal handlers. Exit code 1, because an interrupted check has
// proven nothing.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))

try {
  const { state, reason } = await checkNetworkPolicy({
    targets: readNetworkPolicyConfig(process.env).NETWORK_POLICY_TARGETS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    gracePeriodMs: GRACE_PERIOD_MS,
    intervalMs: INTERVAL_MS,
    report: print,
  })
  print(reason)
  process.exitCode = state === 'enforced' ? 0 : 1
} catch (error) {
  const isConfig = error instanceof AppError && error.code === 'config_invalid'
  process.stderr.write(`${isConfig ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = isConfig ? EXIT_CONFIG : 1
}
