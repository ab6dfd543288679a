import type { Case, Stored } from '../evidence.ts'
import type { Property } from '../property.ts'

/** Where data of persons may be (docs/architecture.md, "Retention"). */
const MAY_HOLD_PERSONS = /^(subjects|actions|inbox_bodies|person_erasures|inbound\..+|rereads.*|readbacks|alerts)$/
/** The simulated providers give every customer and every user of a dashboard an address in these domains. */
const PERSON = /@(?:shop\.)?example\b/
/** Where personal data of a deleted connection is erased. Kafka's topics lose it by their retention. */
const ERASED = /^(subjects|actions|inbox_bodies|deliveries)$/
export const ERASED_AFTER_MS = 12 * 60_000
/** Two walks, ten minutes apart, each of which begins within a minute. */
export const PERSON_ERASED_AFTER_MS = 14 * 60_000

/** Where personal data and secrets are. */
export const DATA_PROPERTIES: readonly Property[] = [
  { name: 'personal-data-stays', promise: 'personal-data', check: findPersons },
  { name: 'personal-data-is-erased', promise: 'erasure', check: findUnerased },
  { name: 'customers-are-erased', promise: 'erasing-a-person', check: findCustomers },
  { name: 'secrets-are-stored-nowhere', promise: 'secrets', check: findSecrets },
]

function findPersons({ alerts, evidence }: Case): string[] {
  const sent: Stored[] = alerts.map(({ channel, text }) => ({ place: `an alert to ${channel}`, text }))
  const kept = evidence.stored.filter(({ place }) => !MAY_HOLD_PERSONS.test(place))
  return unique(
    [...sent, ...kept].flatMap(({ place, text }) => {
      const at = text.search(PERSON)
      return at === -1 ? [] : [`An address of a person is in ${place}: ${text.slice(Math.max(0, at - 30), at + 15)}`]
    }),
  )
}

/** Ten minutes after a connection was deleted its data is erased within minutes, also if processes end meanwhile. */
function findUnerased({ truth, evidence, terms }: Case): string[] {
  const due = truth.departed.filter(({ atMs }) => Math.max(atMs, terms.faultsEndedMs) + ERASED_AFTER_MS <= terms.endMs)
  return due.flatMap(({ connectionId }) =>
    unique(
      evidence.stored
        .filter(({ place, text }) => ERASED.test(place) && text.includes(connectionId) && PERSON.test(text))
        // A refund that a second account shows too keeps what that one has.
        .filter(({ text }) => new Set(text.match(/\bcon_\w+/g)).size === 1)
        .map(({ place }) => `${place} has personal data of ${connectionId}, which was deleted`),
    ),
  )
}

/** Both walks of an erasure are done, and later events brought nothing back, also if processes end meanwhile. */
function findCustomers({ truth, evidence, terms }: Case): string[] {
  const due = truth.erased.filter(
    ({ atMs }) => Math.max(atMs, terms.faultsEndedMs) + PERSON_ERASED_AFTER_MS <= terms.endMs,
  )
  const kept = evidence.stored.filter(({ place }) => ERASED.test(place))
  return due.flatMap(({ projectId, email }) =>
    unique(
      kept
        .filter(({ text }) => text.includes(email))
        .map(({ place }) => `${place} has the address ${email}, which was erased from ${projectId}`),
    ),
  )
}

function findSecrets({ truth, evidence, alerts }: Case): string[] {
  const everything = [
    ...evidence.stored,
    ...alerts.map(({ channel, text }) => ({ place: `an alert to ${channel}`, text })),
  ]
  return truth.secrets.flatMap(secret =>
    unique(everything.filter(({ text }) => text.includes(secret)).map(({ place }) => `A secret is in ${place}`)),
  )
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
