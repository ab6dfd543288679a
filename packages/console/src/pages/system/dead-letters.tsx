import type { DeadLetter } from '@backstop/client'
import { Group } from '@mantine/core'
import { api, refresh } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { deadLetterList } from '../../api/system.ts'
import { choice, defineFilters, resourceChoice, useListFilters } from '../../parts/filters/index.ts'
import { ConfirmButton } from '../../parts/form/index.ts'
import { type Column, ListPage, Panel, textColumn, timeColumn } from '../../parts/list/index.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { Facts, idFact, timeFact } from '../../parts/show/index.ts'
import { projectOptions, useAdministration } from '../../session/administration.ts'
import { useSession } from '../../session/session.ts'
import { RepairAll } from './repair-all.tsx'

export const KINDS: readonly { value: DeadLetter['kind']; label: string }[] = [
  { value: 'notification', label: 'Event of a provider' },
  { value: 'provider_object', label: 'Object read from a provider' },
  { value: 'operation', label: 'Operation' },
  { value: 'recheck', label: 'Second look' },
  { value: 'reread', label: 'Second reading of an event' },
  { value: 'readback', label: 'Reading back' },
  { value: 'command', label: 'Command' },
  { value: 'incident', label: 'Incident' },
  { value: 'alert', label: 'Alert' },
  { value: 'delivery', label: 'Delivery' },
  { value: 'unknown', label: 'Unknown message' },
]
const FILTERS = defineFilters(
  choice('kind', 'Kind', KINDS),
  resourceChoice('project_id', 'Project', () => projectOptions(useAdministration().readable), true),
)

export function Page() {
  const filters = useListFilters(FILTERS)
  const { values } = filters
  const { may } = useSession()
  const { nameProject } = useAdministration()
  const list = useList(deadLetterList, values)
  const panelOf = (id: string, close: () => void) => {
    const letter = list.items.find(({ dead_letter_id }) => dead_letter_id === id)
    return letter && <LetterPanel letter={letter} close={close} />
  }
  return (
    <ListPage
      title="Dead letters"
      about="What could not be used, and was set aside with its reason. Remove the cause, then send it again."
      actions={
        may('manage', values.project_id) && (
          <>
            <RepairAll kind="replay" filters={values} isPossible={list.items.some(({ repair }) => repair !== null)} />
            <RepairAll
              kind="dismiss"
              filters={values}
              isPossible={list.items.some(({ dismiss }) => dismiss !== null)}
            />
          </>
        )
      }
      filters={filters}
      list={list}
      columns={columnsWith(nameProject)}
      opens={{ param: 'letter', show: panelOf }}
      nothingFits="No dead letter fits these filters."
      empty="No dead letter: every event, operation and delivery could be used."
    />
  )
}

function columnsWith(nameProject: (id: string | null) => string): readonly Column<DeadLetter>[] {
  const project = ({ project_id }: DeadLetter) => (project_id === null ? 'Unknown' : nameProject(project_id))
  const repair = ({ repair }: DeadLetter) => (repair === null ? 'Not possible' : 'Possible')
  return [
    textColumn('What', '208px', ({ kind }) => nameKind(kind), { card: 'line' }),
    textColumn('Why it could not be used', 'minmax(0, 1fr)', ({ reason }) => reason, { card: 'title' }),
    textColumn('Project', '144px', project, { tone: 'dim' }),
    textColumn('Repair', '120px', repair, { tone: 'dim', card: 'line' }),
    timeColumn('Since', '112px', ({ parked_at }) => parked_at),
  ]
}

function nameKind(kind: DeadLetter['kind']): string {
  return KINDS.find(({ value }) => value === kind)?.label ?? kind
}

function LetterPanel({ letter, close }: { letter: DeadLetter; close: () => void }) {
  const { may } = useSession()
  const { nameProject } = useAdministration()
  const { dead_letter_id, kind, project_id, bytes, repair_blocked_by } = letter
  const act = (call: (id: string) => Promise<unknown>) => async () => {
    await call(dead_letter_id)
    close()
    await refresh('dead-letters')
  }
  return (
    <Panel title={nameKind(kind)} close={close}>
      <Facts
        facts={[
          ['Why', letter.reason],
          ['Code', letter.reason_code],
          ['Since', timeFact(letter.parked_at)],
          ['Project', project_id === null ? 'Unknown: the message cannot be read' : nameProject(project_id)],
          [
            'Topic',
            <span key="topic" className="mono">
              {letter.topic}
            </span>,
          ],
          ['Key', letter.key && idFact(letter.key)],
          ['Size', bytes === null ? null : `${bytes.toLocaleString('en')} bytes`],
          ['Id', idFact(dead_letter_id)],
          ['Source', <Source key="source" letter={letter} />],
          ['Repair', repair_blocked_by === null ? null : `Not possible: ${repair_blocked_by}`],
        ]}
      />
      {may('manage', project_id ?? undefined) && (
        <Group gap="sm">
          {letter.repair !== null && (
            <ConfirmButton
              question="Send it again?"
              consequence="Do this after the cause was removed, for example after an update. If it still cannot be used, it is listed again."
              onConfirm={act(api.deadLetters.replay)}
            >
              Send again
            </ConfirmButton>
          )}
          {letter.dismiss !== null && (
            <ConfirmButton
              question="Dismiss it?"
              consequence="It is never sent, and leaves this list. Do this for messages that nothing can use, for example of another program."
              onConfirm={act(api.deadLetters.dismiss)}
            >
              Dismiss
            </ConfirmButton>
          )}
        </Group>
      )}
    </Panel>
  )
}

/** The page of the operation or of the channel's delivery. An inbox entry is shown on the page of its connection. */
function Source({ letter: { resource, project_id } }: { letter: DeadLetter }) {
  const [, , place, id] = resource?.split('/') ?? []
  if (resource === null) return <span className="dim">None</span>
  if (project_id === null || id === undefined || place !== 'operations') return <span className="mono">{resource}</span>
  return (
    <ProjectLink page="operations" id={id} project={project_id}>
      Open the operation
    </ProjectLink>
  )
}
