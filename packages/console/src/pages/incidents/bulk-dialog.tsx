import { Button, Group, Modal, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, refresh, useWrite } from '../../api/client.ts'
import { formatMoney } from '../../format/money.ts'
import { Problem, Read } from '../../parts/page/index.ts'
import { Time } from '../../parts/show/index.ts'
import classes from './incident.module.css'
import { ResolutionFields, useResolution } from './resolution-fields.tsx'

type Body = Parameters<typeof api.incidents.change>[0]

interface Props {
  project_id: string
  kind: 'acknowledge' | 'resolve'
  /** The filters of the list, which choose the incidents. */
  filter: Body['filter']
  onClose: () => void
}

const WORDS = {
  acknowledge: { verb: 'Acknowledge', done: 'acknowledged' },
  resolve: { verb: 'Resolve', done: 'resolved' },
} as const

/** What would change, and the change of exactly that. */
function useBulkChange({ project_id, kind, filter }: Props) {
  const preview = useQuery({
    // Not below 'incidents', because a live change must not alter the count under the pointer.
    queryKey: ['incident-bulk-preview', project_id, kind, filter],
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn() {
      // The preview counts the same for every reason.
      const change = kind === 'acknowledge' ? { kind } : ({ kind, reason: 'other' } as const)
      return (await api.incidents.change({ project_id, filter, change, dry_run: true })) as Preview
    },
    gcTime: 0,
  })
  const start = useWrite((change: Body['change']) => {
    // Incidents that open after the preview are not changed, because the change has the preview's end.
    const end = preview.data && { opened_to: preview.data.opened_to }
    return api.incidents.change({ project_id, filter: { ...filter, ...end }, change })
  })
  const bulkId = start.data !== undefined && 'bulk_id' in start.data ? start.data.bulk_id : undefined
  return { preview, start, bulkId }
}

/** Changes all incidents that fit the filters of the list, after a preview of what would change. */
export function BulkDialog(props: Props) {
  const { kind, onClose } = props
  const { preview, start, bulkId } = useBulkChange(props)
  const fields = useResolution()
  const { verb } = WORDS[kind]
  const count = preview.data?.count ?? 0
  const change = kind === 'acknowledge' ? { kind } : fields.resolution && { kind, ...fields.resolution }
  const close = () => {
    if (bulkId !== undefined) void refresh('incidents')
    onClose()
  }
  return (
    <Modal opened onClose={close} title={`${verb} all incidents that fit the filters`} size="lg">
      <Stack gap="md">
        {bulkId !== undefined ? (
          <Progress id={bulkId} done={WORDS[kind].done} of={count} />
        ) : (
          <>
            <Read
              query={preview}
              what="The incidents could not be counted"
              loading={<p className="faint">Counting…</p>}
            >
              {counted => <PreviewList preview={counted} />}
            </Read>
            {kind === 'resolve' && count > 0 && <ResolutionFields fields={fields} />}
            <Problem error={start.error} what="Nothing was changed" />
          </>
        )}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            {bulkId === undefined ? 'Cancel' : 'Close'}
          </Button>
          {bulkId === undefined && count > 0 && (
            <Button
              loading={start.isPending}
              disabled={change === undefined}
              onClick={() => change !== undefined && start.mutate(change)}
            >
              {`${verb} ${count}`}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}

function Progress({ id, done, of }: { id: string; done: string; of: number }) {
  const { data, error } = useQuery({
    queryKey: ['incident-bulks', 'one', id],
    queryFn: ({ signal }) => api.incidentBulks.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'done' ? false : 700),
  })
  if (error !== null) return <Problem error={error} what="The change began, but its progress could not be read" />
  const { changed = 0, refused = 0, state = 'running' } = data ?? {}
  const [is, it] = refused === 1 ? ['it is', 'it'] : ['they are', 'them']
  return (
    <div role="status">
      <p>
        {changed} of {of} {done}
        {state === 'done' ? '.' : '…'}
      </p>
      {refused > 0 && <p className="dim">{`${refused} left as ${is}, because somebody changed ${it} first.`}</p>}
      {state !== 'done' && <p className="dim">It continues if you close this dialog.</p>}
    </div>
  )
}

type Preview = Extract<Awaited<ReturnType<typeof api.incidents.change>>, { dry_run: true }>

function PreviewList({ preview: { count, is_complete, money, incidents } }: { preview: Preview }) {
  if (count === 0) return <p>No incident that fits the filters allows this change.</p>
  const sums = money.map(({ amount, currency }) => formatMoney(amount, currency)).join(', ')
  return (
    <>
      <p>
        <strong>
          {is_complete ? count.toLocaleString('en') : `More than ${count.toLocaleString('en')}`}{' '}
          {count === 1 ? 'incident' : 'incidents'}
        </strong>
        {sums === '' ? '' : `, ${sums}`}
      </p>
      <ul className={classes.preview}>
        {incidents.map(({ incident_id, summary, opened_at }) => (
          <li key={incident_id}>
            <span dir="auto">{summary}</span>
            <span className="faint">
              <Time at={opened_at} />
            </span>
          </li>
        ))}
      </ul>
      {count > incidents.length && <p className="faint">The newest {incidents.length} are shown.</p>}
    </>
  )
}
