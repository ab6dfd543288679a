import type { DeadLetter } from '@backstop/client'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import * as z from 'zod/mini'
import { api } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { deadLetterList } from '../../api/system.ts'
import { timeColumn } from '../../parts/columns.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { Facts } from '../../parts/facts.tsx'
import { ChoiceFilter, FilterBar, SearchChoiceFilter } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/session.ts'
import { Panel } from './panel.tsx'
import { RepairAll } from './repair-all.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'

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
const FILTERS = { project_id: z.string(), kind: z.enum(KINDS.map(({ value }) => value)), letter: z.string() }

export function Page() {
  const [{ letter: id, ...filters }, setFilters, bind] = useFilters(FILTERS)
  const { may } = useSession()
  const { readable, nameProject } = useAdministration()
  const list = useList(deadLetterList, filters)
  const letter = list.items.find(({ dead_letter_id }) => dead_letter_id === id)
  return (
    <>
      <PageHead
        title="Dead letters"
        actions={
          may('manage', filters.project_id) && (
            <>
              <RepairAll
                kind="replay"
                filters={filters}
                isPossible={list.items.some(({ repair }) => repair !== null)}
              />
              <RepairAll
                kind="dismiss"
                filters={filters}
                isPossible={list.items.some(({ dismiss }) => dismiss !== null)}
              />
            </>
          )
        }
      >
        <p className="dim">
          What could not be used, and was set aside with its reason. Remove the cause, then send it again.
        </p>
      </PageHead>
      <FilterBar>
        <ChoiceFilter label="Kind" options={KINDS} {...bind('kind')} />
        <SearchChoiceFilter
          label="Project"
          options={readable.map(({ project_id, name }) => ({ value: project_id, label: name }))}
          {...bind('project_id')}
        />
      </FilterBar>
      <DataList
        label="Dead letters"
        list={list}
        columns={columnsWith(nameProject)}
        hrefOf={({ dead_letter_id }) =>
          `/system/dead-letters?${new URLSearchParams({ ...filters, letter: dead_letter_id })}`
        }
        empty={
          <p>
            {Object.keys(filters).length > 0
              ? 'No dead letter fits these filters.'
              : 'No dead letter: every event, operation and delivery could be used.'}
          </p>
        }
      />
      {letter !== undefined && <LetterPanel letter={letter} close={() => setFilters({ letter: undefined })} />}
    </>
  )
}

function columnsWith(nameProject: (id: string | null) => string): readonly Column<DeadLetter>[] {
  return [
    { title: 'What', width: '208px', card: 'line', cell: ({ kind }) => nameKind(kind) },
    {
      title: 'Why it could not be used',
      width: 'minmax(0, 1fr)',
      card: 'title',
      cell: ({ reason }) => (
        <span className={classes.text} dir="auto" title={reason}>
          {reason}
        </span>
      ),
    },
    {
      title: 'Project',
      width: '144px',
      cell: ({ project_id }) => (
        <span className={`dim ${classes.text}`} dir="auto">
          {project_id === null ? 'Unknown' : nameProject(project_id)}
        </span>
      ),
    },
    {
      title: 'Repair',
      width: '120px',
      card: 'line',
      cell: ({ repair }) => <span className="dim">{repair === null ? 'Not possible' : 'Possible'}</span>,
    },
    timeColumn('Since', '112px', ({ parked_at }) => parked_at),
  ]
}

function nameKind(kind: DeadLetter['kind']): string {
  return KINDS.find(({ value }) => value === kind)?.label ?? kind
}

function LetterPanel({ letter, close }: { letter: DeadLetter; close: () => void }) {
  const { may } = useSession()
  const queryClient = useQueryClient()
  const { nameProject } = useAdministration()
  const { dead_letter_id, kind, project_id, topic, key, bytes, reason, reason_code, parked_at, repair_blocked_by } =
    letter
  const act = async (call: (id: string) => Promise<unknown>) => {
    await call(dead_letter_id)
    close()
    await queryClient.invalidateQueries({ queryKey: ['dead-letters'] })
  }
  return (
    <Panel title={nameKind(kind)} close={close}>
      <Facts
        facts={[
          ['Why', reason],
          ['Code', reason_code],
          ['Since', <Time key="at" at={parked_at} />],
          ['Project', project_id === null ? 'Unknown: the message cannot be read' : nameProject(project_id)],
          [
            'Topic',
            <span key="topic" className="mono">
              {topic}
            </span>,
          ],
          ['Key', key && <CopyId key="key" id={key} length={32} />],
          ['Size', bytes === null ? null : `${bytes.toLocaleString()} bytes`],
          ['Id', <CopyId key="id" id={dead_letter_id} length={32} />],
          ['Source', <Source key="source" letter={letter} />],
          ['Repair', repair_blocked_by === null ? null : `Not possible: ${repair_blocked_by}`],
        ]}
      />
      {may('manage', project_id ?? undefined) && (
        <div className={classes.buttons}>
          {letter.repair !== null && (
            <ConfirmButton
              question="Send it again?"
              consequence="Do this after the cause was removed, for example after an update. If it still cannot be used, it is listed again."
              onConfirm={() => act(api.deadLetters.replay)}
            >
              Send again
            </ConfirmButton>
          )}
          {letter.dismiss !== null && (
            <ConfirmButton
              question="Dismiss it?"
              consequence="It is never sent, and leaves this list. Do this for messages that nothing can use, for example of another program."
              onConfirm={() => act(api.deadLetters.dismiss)}
            >
              Dismiss
            </ConfirmButton>
          )}
        </div>
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
    <Link className="link" to="/p/$project/operations/$id" params={{ project: project_id, id }}>
      Open the operation
    </Link>
  )
}
