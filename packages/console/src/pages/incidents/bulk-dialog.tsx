import { Button, Group, Modal, Radio, Stack, Textarea } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { formatMoney } from '../../format/money.ts'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import classes from './bulk-dialog.module.css'
import { RESOLVE_REASONS, type Resolution } from './words.ts'

type Body = Parameters<typeof api.incidents.change>[0]
type Filter = Body['filter']

interface Props {
  project_id: string
  kind: 'acknowledge' | 'resolve'
  /** The filters of the list, which choose the incidents. */
  filter: Filter
  onClose: () => void
}

const DONE = { acknowledge: 'acknowledged', resolve: 'resolved' } as const

/** Changes all incidents that fit the filters of the list, after a preview of what would change. */
export function BulkDialog({ project_id, kind, filter, onClose }: Props) {
  const queryClient = useQueryClient()
  const [reason, setReason] = useState<Resolution['reason']>()
  const [note, setNote] = useState('')
  const preview = useQuery({
    // Not below 'incidents', because a live change must not alter the count under the pointer.
    queryKey: ['incident-bulk-preview', project_id, kind, filter],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => api.incidents.change({ project_id, filter, change: previewOf(kind), dry_run: true }),
    gcTime: 0,
  })
  // Incidents that open after the preview are not changed, because the change has the preview's end.
  const counted = preview.data !== undefined && 'count' in preview.data ? preview.data : undefined
  const start = useMutation({
    mutationFn: (change: Body['change']) =>
      api.incidents.change({
        project_id,
        filter: { ...filter, ...(counted && { opened_to: counted.opened_to }) },
        change,
      }),
  })
  const bulkId = start.data !== undefined && 'bulk_id' in start.data ? start.data.bulk_id : undefined
  const progress = useBulk(bulkId)
  const count = counted?.count
  const close = () => {
    if (bulkId !== undefined) void queryClient.invalidateQueries({ queryKey: ['incidents'] })
    onClose()
  }
  const submit = () => {
    if (kind === 'acknowledge') start.mutate({ kind })
    else if (reason !== undefined) {
      start.mutate({ kind, reason, ...(note.trim() === '' ? {} : { note: note.trim() }) })
    }
  }
  const title = `${kind === 'acknowledge' ? 'Acknowledge' : 'Resolve'} all incidents that fit the filters`
  return (
    <Modal opened onClose={close} title={title} size="lg">
      <Stack gap="md">
        {bulkId !== undefined ? (
          <Progress kind={kind} of={count} {...progress} />
        ) : (
          <>
            {preview.error !== null && (
              <Problem
                error={preview.error}
                retry={() => void preview.refetch()}
                what="The incidents could not be counted"
              />
            )}
            {preview.isPending && <p className="faint">Counting…</p>}
            {counted !== undefined && <Preview preview={counted} />}
            {kind === 'resolve' && count !== undefined && count > 0 && (
              <Reason reason={reason} setReason={setReason} note={note} setNote={setNote} />
            )}
            {start.error !== null && <Problem error={start.error} what="Nothing was changed" />}
          </>
        )}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            {bulkId === undefined ? 'Cancel' : 'Close'}
          </Button>
          {bulkId === undefined && count !== undefined && count > 0 && (
            <Button
              loading={start.isPending}
              disabled={kind === 'resolve' && (reason === undefined || (reason === 'other' && note.trim() === ''))}
              onClick={submit}
            >
              {kind === 'acknowledge' ? `Acknowledge ${count}` : `Resolve ${count}`}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}

/** The preview counts the same for every reason. */
function previewOf(kind: Props['kind']): Body['change'] {
  return kind === 'acknowledge' ? { kind } : { kind, reason: 'other' }
}

function useBulk(id: string | undefined) {
  const { data, error } = useQuery({
    queryKey: ['incident-bulks', 'one', id],
    queryFn: ({ signal }) => api.incidentBulks.get(id ?? '', { signal }),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (state.data?.state === 'done' ? false : 700),
  })
  return { bulk: data, error }
}

type Bulk = Awaited<ReturnType<typeof api.incidentBulks.get>>

function Progress({
  kind,
  of,
  bulk,
  error,
}: {
  kind: Props['kind']
  of: number | undefined
  bulk: Bulk | undefined
  error: Error | null
}) {
  if (error !== null) return <Problem error={error} what="The change began, but its progress could not be read" />
  const { changed = 0, refused = 0, state = 'running' } = bulk ?? {}
  return (
    <div role="status">
      <p>
        {changed} {of === undefined ? '' : `of ${of} `}
        {DONE[kind]}
        {state === 'done' ? '.' : '…'}
      </p>
      {refused > 0 && (
        <p className="dim">
          {refused} left as {refused === 1 ? 'it is' : 'they are'}, because somebody changed{' '}
          {refused === 1 ? 'it' : 'them'} first.
        </p>
      )}
      {state !== 'done' && <p className="dim">It continues if you close this dialog.</p>}
    </div>
  )
}

type PreviewData = Extract<Awaited<ReturnType<typeof api.incidents.change>>, { dry_run: true }>

function Preview({ preview: { count, is_complete, money, incidents } }: { preview: PreviewData }) {
  if (count === 0) return <p>No incident that fits the filters allows this change.</p>
  const sums = money.map(({ amount, currency }) => formatMoney(amount, currency)).join(', ')
  return (
    <>
      <p>
        <strong>
          {is_complete ? count.toLocaleString() : `More than ${count.toLocaleString()}`}{' '}
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

interface ReasonProps {
  reason: Resolution['reason'] | undefined
  setReason: (reason: Resolution['reason']) => void
  note: string
  setNote: (note: string) => void
}

function Reason({ reason, setReason, note, setNote }: ReasonProps) {
  return (
    <>
      <Radio.Group
        label="Reason"
        value={reason ?? ''}
        onChange={value => setReason(value as Resolution['reason'])}
        required
      >
        <Stack mt="xs" gap="sm">
          {RESOLVE_REASONS.map(({ value, label, about }) => (
            <Radio key={value} value={value} label={label} description={about} />
          ))}
        </Stack>
      </Radio.Group>
      <Textarea
        label="Note"
        value={note}
        maxLength={1_000}
        required={reason === 'other'}
        onChange={event => setNote(event.currentTarget.value)}
      />
    </>
  )
}
