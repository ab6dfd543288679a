import { byPeriod, type Deed } from '../../actors/truth.ts'
import type { Case } from '../evidence.ts'
import type { Property } from '../property.ts'
import { announcementsOf } from './alerts.ts'
import { actionsOf } from './records.ts'

/** How many of a group of equal changes an expected change covers. */
export const EXPECTED_CHANGE_PROPERTIES: readonly Property[] = [
  { name: 'expected-changes-are-capped', promise: 'expected-changes', check: findUncapped },
  { name: 'expected-changes-cover-what-they-state', promise: 'expected-changes', check: findUncovered },
]

/** An expected change explains as many of equal changes as it states, in total or in each period, and no more. */
function findUncapped(run: Case): string[] {
  return judgeGroups(run, (deeds, covered) => {
    const alerted = deeds.filter(deed => announcementsOf(run, deed).length > 0).length
    const wanted = deeds.filter(isPlain).length - covered
    return alerted < wanted
      ? [`Of ${deeds.length} equal changes ${covered} were expected, and only ${alerted} alerted (${deeds[0]?.title})`]
      : []
  })
}

/** When a run is at rest, each expected change has explained as many as it states. Another change may have used it first. */
function findUncovered(run: Case): string[] {
  return judgeGroups(run, (deeds, covered) => {
    const plain = deeds.filter(isPlain)
    const wanted = Math.min(plain.length, covered - (deeds.length - plain.length))
    const explained = plain.filter(deed => actionsOf(run, deed).some(({ verdict }) => verdict === 'explained')).length
    return explained < wanted
      ? [
          `Of ${deeds.length} equal changes ${covered} were expected, and only ${explained} are explained (${deeds[0]?.title})`,
        ]
      : []
  })
}

function judgeGroups({ truth }: Case, check: (deeds: readonly Deed[], covered: number) => string[]): string[] {
  return truth.capped.flatMap(group => byPeriod(group).flatMap(deeds => check(deeds, group.covered)))
}

/** A change whose notifications were lost, or whose account was silent or disconnected, need not alert, and need not be covered. */
function isPlain({ grounds, accounts }: Deed): boolean {
  return grounds.length === 1 && accounts.every(account => account.grounds.length === 0)
}
