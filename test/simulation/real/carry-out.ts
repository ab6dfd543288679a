import type { RealCluster } from './cluster.ts'
import type { Fault } from './faults.ts'
import type { OwnServers } from './servers.ts'
import type { RealTimers } from './timers.ts'

export interface FaultTargets {
  readonly cluster: RealCluster
  readonly servers: OwnServers | undefined
  readonly timers: RealTimers
}

/** Lets a fault happen now. A fault that lasts ends by itself. */
export function carryOut(fault: Fault, { cluster, servers, timers }: FaultTargets): void {
  switch (fault.kind) {
    case 'cut':
      for (const link of cluster.links(fault.member, fault.server)) link.cut()
      break
    case 'lost_answer':
      for (const link of cluster.links(fault.member, fault.server)) link.loseAnswer()
      break
    case 'disturbed': {
      const links = cluster.links(fault.member, fault.server)
      for (const link of links) link.disturb(fault.disturbance)
      timers.after(fault.forMs, () => {
        for (const link of links) link.heal()
      })
      break
    }
    case 'killed':
      cluster.end(fault.member, 'SIGKILL', fault.downMs)
      break
    case 'terminated':
      cluster.end(fault.member, 'SIGTERM', fault.downMs)
      break
    case 'frozen':
      cluster.freeze(fault.member, fault.forMs)
      break
    case 'server_killed':
      servers?.kill(fault.server, fault.forMs)
      break
    case 'server_frozen':
      servers?.freeze(fault.server, fault.forMs)
      break
    case 'step_down':
      servers?.stepDown(fault.forMs)
      break
    default:
      fault satisfies never
  }
}
