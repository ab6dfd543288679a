/** Whether the network policies hold, judged by what could be reached from a pod that they are about. Pure. */

/** Something that a pod behind the policies must not reach. */
export interface WallTarget {
  /** An address, or a name; a name is waited for until DNS knows it. */
  readonly host: string
  readonly port: number
}

/** One look at one target. */
export interface Knock {
  readonly target: WallTarget
  /** `absent`: DNS has no address, so that nothing was tried and nothing is proved. */
  readonly outcome: 'reached' | 'blocked' | 'absent'
  /** The address or the code of the error, for people. */
  readonly detail: string
}

/** Every verdict but `open` and `waiting` is final. */
export interface WallVerdict {
  readonly state: 'stands' | 'breached' | 'open' | 'waiting'
  /** A line for people. */
  readonly reason: string
}

/**
 * Something reached is a breach only once that has lasted: several plug-ins enforce the policies of a new pod some seconds
 * after it began (Amazon VPC CNI in its standard mode). Nothing reached is a proof only if there was something to reach.
 * @param knocks the last look at every target
 * @param reachedForMs for how long something has been reached without a break, in milliseconds
 * @param patienceMs how long that may last
 */
export function judgeWall(knocks: readonly Knock[], reachedForMs: number, patienceMs: number): WallVerdict {
  const of = (outcome: Knock['outcome']) =>
    knocks
      .filter(knock => knock.outcome === outcome)
      .map(describe)
      .join(', ')
  const reached = of('reached')
  if (reached !== '' && reachedForMs >= patienceMs) return { state: 'breached', reason: remedy(reached) }
  if (reached !== '') return { state: 'open', reason: `reached ${reached}: giving the policies time to take effect` }
  const absent = of('absent')
  if (absent !== '') return { state: 'waiting', reason: `waiting until DNS knows ${absent}` }
  return { state: 'stands', reason: `the network policies are enforced: could not reach ${of('blocked')}` }
}

const describe = ({ target, detail }: Knock) =>
  `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port} (${detail})`

function remedy(reached: string): string {
  return [
    `The network policies are not enforced: reached ${reached} from a pod that may not.`,
    'What channels point to is still checked by Backstop itself, but nothing stands behind that.',
    "Turn on enforcement in the cluster's network plug-in (Amazon VPC CNI: enableNetworkPolicy; GKE without Dataplane V2:",
    '--enable-network-policy; deploy/k8s/README.md), delete this job and apply again',
  ].join('\n')
}
