import type { Alert, Storm } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { providerUrlOf } from './describe-action.ts'
import {
  commonCustomer,
  describePlace,
  durationOf,
  formatCount,
  nameActions,
  sentenceOfOrigin,
  sharedFacts,
  sumOf,
} from './describe-many.ts'
import { nextStepsOfStorm } from './next-steps.ts'
import { clockTime } from './times.ts'
import { capitalise, factsIn, joinWords, toOneLine } from './wording.ts'

type StormAlert = Extract<Alert, { event: 'storm.reported' }>

/** Describes many unexplained actions of one connection, or of one of its connected accounts, in one message. */
export function describeStorm({ data: { storm, names } }: StormAlert): AlertTexts {
  const actions = nameActions(storm, 'unexplained ')
  const where = describePlace(storm, toOneLine(names?.connection ?? storm.connection_id))
  return {
    title: `${storm.mode === 'test' ? '[Test mode] ' : ''}${TITLE_STARTS[stageOf(storm)]}${actions} on ${where}${sumOf(storm)}`,
    summary: [sentenceOfStage(storm, actions), ...sentenceWithoutMoney(storm), sentenceOfOrigin(storm)].join(' '),
    facts: factsIn([
      ...sharedFacts(storm, customersOf(storm)),
      [
        'Explained since',
        storm.explained > 0 || stageOf(storm) === 'ended'
          ? `${formatCount(storm.explained)} of ${formatCount(storm.count)}`
          : null,
      ],
      ['When', `${capitalise(durationOf(storm))} from ${storm.first_at}`],
    ]),
    next: nextStepsOfStorm(storm),
    tone: endsStorm(storm) ? 'relief' : 'alarm',
    providerUrl: providerUrlOf(storm),
    reference: storm.storm_id,
  }
}

/** True if every incident of the storm is resolved. */
export function endsStorm({ count, resolved }: Storm): boolean {
  return count === resolved
}

const TITLE_STARTS = {
  began: '',
  confirmed: 'Confirmed: ',
  continues: 'Update: ',
  acknowledged: 'Acknowledged: ',
  ended: 'Ended: ',
} as const

function stageOf({ cause, state, report, bursts }: Storm): keyof typeof TITLE_STARTS {
  if (cause === 'acknowledged') return 'acknowledged'
  if (state === 'ended') return 'ended'
  if (report > 1) return 'continues'
  return bursts === undefined ? 'began' : 'confirmed'
}

function sentenceOfStage(storm: Storm, actions: string): string {
  const stage = stageOf(storm)
  switch (stage) {
    case 'began':
      return 'Neither your software nor your team reported them. A few summaries follow instead of a message for each.'
    case 'confirmed':
      return sentenceOfBursts(storm)
    case 'continues':
      return 'More since the last message.'
    case 'acknowledged':
      return `Every incident of these ${actions} that is still open has been acknowledged.`
    case 'ended':
      return `It is over for now, and ${endOf(storm)}.`
    default:
      return stage satisfies never
  }
}

function endOf({ count, explained }: Storm): string {
  if (explained === 0) return 'none has been explained since'
  if (explained === count) return 'all have been explained since'
  return `${formatCount(explained)} of them ${explained === 1 ? 'has' : 'have'} been explained since`
}

/** Tells that the sums are of fewer actions; empty if they are of all. */
function sentenceWithoutMoney({ count, without_money: without = 0 }: Storm): string[] {
  if (without === 0) return []
  const which = without === count ? (count === 1 ? 'It' : 'All') : `${formatCount(without)} of them`
  return [`${which} failed or ${without === 1 ? 'was' : 'were'} canceled: no money moved.`]
}

/** Which alert people got before the second looks. */
function sentenceOfBursts({ bursts = [], last_at }: Storm): string {
  const alerted = bursts.map(({ opened_at }) => clockTime(opened_at, last_at))
  return `It continues the burst of ${joinWords(alerted)}.`
}

/** A report counts no further; see `customers` of `Storm`. */
const MAX_COUNTED_CUSTOMERS = 10_000

function customersOf(storm: Storm): string {
  const common = commonCustomer(storm)
  if (common !== null) return common
  if (storm.customers === 0) return 'The provider does not say'
  const limit = storm.customers >= MAX_COUNTED_CUSTOMERS ? 'At least ' : ''
  return `${limit}${formatCount(storm.customers)}`
}
