import type { ListedIncident } from '../../api/incidents.ts'
import { shortenId, shortenIds } from '../../format/ids.ts'
import { type Column, moneyColumn, textColumn, timeColumn } from '../../parts/list/index.ts'
import { StateBadge } from '../../parts/show/index.ts'
import { countOf, moneyText } from '../storms/storm-list.tsx'
import { codeWord, kindWord, madeBy } from './words.ts'

const AMOUNT = moneyColumn<ListedIncident>('116px', ({ action }) => action ?? undefined, 'title')

/**
 * The columns of incidents, in their list and on the page of a storm. A storm, and an incident that is about no action, has a sentence in place
 * of amount and customer.
 * @param placeOf the connection and account of an incident; without it there is no such column
 */
export function incidentColumns(placeOf?: (incident: ListedIncident) => string | undefined): Column<ListedIncident>[] {
  return [
    {
      title: 'State',
      width: '108px',
      card: 'line',
      cell: ({ state, storm }) => <StateBadge state={storm?.state ?? state} />,
    },
    { ...AMOUNT, spans: incident => (sentenceOf(incident) === undefined ? 1 : 2), cell: whatHappened },
    { title: 'Customer', width: 'minmax(0, 0.9fr)', card: 'title', cell: whose },
    ...(placeOf === undefined ? [] : [textColumn('Account', 'minmax(92px, 0.7fr)', placeOf, { tone: 'dim' })]),
    textColumn('How', 'minmax(80px, 0.8fr)', madeBy, { tone: 'dim', card: 'line' }),
    timeColumn('Made', '104px', ({ provider_created_at }) => provider_created_at, { isOnCard: false, never: '' }),
    timeColumn('Opened', '104px', ({ opened_at }) => opened_at),
    textColumn('Owner', 'minmax(64px, 0.75fr)', ({ assignee }) => assignee, { tone: 'dim', card: 'line' }),
  ]
}

/** The sentence of a row without amount and customer. */
function sentenceOf({ storm, action, summary }: ListedIncident): string | undefined {
  if (storm === undefined) return action === null ? shortenIds(summary) : undefined
  const money = storm.money.length === 0 ? '' : `: ${moneyText(storm)}`
  const burst = storm.bursts?.at(-1)
  if (countOf(storm) > 0 || burst === undefined) return `Storm of ${countOf(storm).toLocaleString('en')}${money}`
  return `Burst of ${burst.count.toLocaleString('en')}, being checked`
}

function whatHappened(incident: ListedIncident) {
  const sentence = sentenceOf(incident)
  if (sentence !== undefined) {
    return (
      <span dir="auto" title={incident.storm === undefined ? incident.summary : sentence}>
        {sentence}
      </span>
    )
  }
  const { action } = incident
  return action?.amount == null ? <span>{action === null ? '' : kindWord(action)}</span> : AMOUNT.cell(incident)
}

function whose({ action, code }: ListedIncident) {
  const { name, email, id } = action?.customer ?? {}
  const customer = name ?? email ?? (id == null ? null : shortenId(id))
  return (
    <>
      {code !== 'UNEXPECTED_ACTION' && action !== null && <span className="dim">{codeWord(code)}</span>}
      {customer == null ? <span className="mono dim">{shortenId(action?.subject ?? '')}</span> : <bdi>{customer}</bdi>}
    </>
  )
}
