/** A host that a pod under the notifier's network policy must not reach. */
export interface ForbiddenTarget {
  /** An address or a name. */
  readonly host: string
  readonly port: number
}

/** One attempt to connect to one address of a target. */
export interface ConnectionAttempt {
  readonly target: ForbiddenTarget
  /** `unresolved`: DNS knows no address, so no connection was tried and nothing is proven. */
  readonly outcome: 'reached' | 'blocked' | 'unresolved'
  /** The address, or the code of the error. */
  readonly detail: string
}

/** The result of the check so far. Every verdict except `grace_period` and `waiting` is final. */
export interface PolicyVerdict {
  readonly state: 'enforced' | 'not_enforced' | 'grace_period' | 'waiting'
  /** The reason for the job's log. */
  readonly reason: string
}

/**
 * Judges whether the cluster enforces the network policies. A reachable target fails the check only after the grace
 * period, because several plug-ins enforce the policies of a new pod some seconds after it started (Amazon VPC CNI in
 * its standard mode). Unreachable targets prove enforcement only if DNS knows all of them.
 * @param attempts the latest attempts at all targets
 * @param reachedForMs how long a target has been reachable without interruption, in milliseconds
 */
export function judgeAttempts(
  attempts: readonly ConnectionAttempt[],
  reachedForMs: number,
  gracePeriodMs: number,
): PolicyVerdict {
  const of = (outcome: ConnectionAttempt['outcome']) =>
    attempts
      .filter(attempt => attempt.outcome === outcome)
      .map(describe)
      .join(', ')
  const reached = of('reached')
  if (reached !== '' && reachedForMs >= gracePeriodMs) return { state: 'not_enforced', reason: remedy(reached) }
  if (reached !== '')
    return { state: 'grace_period', reason: `reached ${reached}: giving the policies time to take effect` }
  const unresolved = of('unresolved')
  if (unresolved !== '') return { state: 'waiting', reason: `waiting until DNS knows ${unresolved}` }
  return { state: 'enforced', reason: `the network policies are enforced: could not reach ${of('blocked')}` }
}

const describe = ({ target, detail }: ConnectionAttempt) =>
  `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port} (${detail})`

function remedy(reached: string): string {
  return [
    `The network policies are not enforced: reached ${reached} from a pod that may not.`,
    'Backstop still checks the addresses of channels itself, but nothing else does.',
    "Turn on enforcement in the cluster's network plug-in (Amazon VPC CNI: enableNetworkPolicy; GKE without Dataplane V2:",
    '--enable-network-policy; deploy/k8s/README.md), delete this job and apply again',
  ].join('\n')
}
