import { Group, SegmentedControl, Select, Skeleton, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type PreviewQuery, previewQuery, previewUrl } from '../../api/channels.ts'
import { Problem } from '../../parts/page/index.ts'
import { LongText } from '../../parts/show/index.ts'
import type { Draft } from './draft.ts'
import classes from './message-preview.module.css'
import { type ChannelKind, EVENTS } from './words.ts'

interface Props {
  kind: ChannelKind
  projectId: string
  /** Settings that are not saved yet. Without them the saved ones apply. */
  settings?: Settings
  /** The form of the channel: its settings, and where the message goes, above it. */
  draft?: Draft
}

type Settings = Pick<PreviewQuery, 'branding' | 'template' | 'shows_personal_data'>

type Format = 'html' | 'text' | 'json'
const TYPING_PAUSE_MS = 200

/** A sample message as its receiver sees it. It follows the settings while somebody types. */
export function MessagePreview({
  kind,
  projectId,
  draft,
  settings = draft === undefined ? {} : settingsOf(draft),
}: Props) {
  const target = draft === undefined ? '' : targetOf(draft)
  const [event, setEvent] = useState<NonNullable<PreviewQuery['event']>>('incident.opened')
  const [chosen, setFormat] = useState<Format>('html')
  const hasPage = kind !== 'webhook'
  const hasDigest = kind === 'slack' || kind === 'email'
  const shownEvent = event === 'digest' && !hasDigest ? 'incident.opened' : event
  const format = chosen === 'html' && !hasPage ? 'json' : chosen
  const [debounced] = useDebouncedValue(JSON.stringify(settings), TYPING_PAUSE_MS)
  const query: PreviewQuery = {
    project_id: projectId,
    kind,
    event: shownEvent,
    ...(JSON.parse(debounced) as typeof settings),
  }
  const formats = [
    ...(hasPage ? [{ value: 'html', label: 'Message' }] : []),
    ...(kind === 'webhook' ? [] : [{ value: 'text', label: 'Text' }]),
    ...(kind === 'email' ? [] : [{ value: 'json', label: 'JSON' }]),
  ]
  const events = [...EVENTS, { value: 'channel.test', label: 'Test' }, ...(hasDigest ? [DIGEST] : [])]
  return (
    <Stack component="section" gap="sm" miw={0} aria-label="Preview">
      <Group justify="space-between" gap="sm">
        <Select
          aria-label="Message"
          size="xs"
          data={events}
          value={shownEvent}
          onChange={value => value !== null && setEvent(value as typeof event)}
        />
        {formats.length > 1 && (
          <SegmentedControl size="xs" data={formats} value={format} onChange={value => setFormat(value as Format)} />
        )}
      </Group>
      {target !== '' && (
        <Text size="sm" className="dim" style={{ overflowWrap: 'anywhere' }} dir="auto">
          {target}
        </Text>
      )}
      {format === 'html' ? <MessageFrame query={query} /> : <MessageText query={{ ...query, format }} />}
    </Stack>
  )
}

const DIGEST = { value: 'digest', label: 'Digest of many alerts' }

/** A message as a page. The page of before stays until the next one is loaded, so that nothing flashes. */
function MessageFrame({ query }: { query: PreviewQuery }) {
  // A frame would show the error as its page, so the same message is asked for as text first.
  const text = useQuery({ ...previewQuery({ ...query, format: 'text' }), placeholderData: keepPreviousData })
  const src = previewUrl(query)
  const [shown, setShown] = useState(src)
  if (text.error !== null) return <Unshown error={text.error} retry={() => void text.refetch()} />
  if (text.data === undefined) return <Skeleton height={400} />
  return (
    <div className={classes.frames}>
      {[...new Set([shown, src])].map(url => (
        <iframe
          key={url}
          className={classes.frame}
          data-is-waiting={url !== shown || undefined}
          title={url === shown ? 'The message' : 'The next message'}
          sandbox=""
          src={url}
          onLoad={() => setShown(url)}
        />
      ))}
    </div>
  )
}

function MessageText({ query }: { query: PreviewQuery }) {
  const { data, error, refetch } = useQuery({ ...previewQuery(query), placeholderData: keepPreviousData })
  if (error !== null) return <Unshown error={error} retry={() => void refetch()} />
  return <LongText dir="auto" text={data ?? ' '} height="min(640px, 78vh)" />
}

function Unshown({ error, retry }: { error: Error; retry: () => void }) {
  return <Problem error={error} retry={retry} what="This message cannot be shown" />
}

/** The settings of the draft that change its messages. */
function settingsOf({ kind, template, showsPersonalData }: Draft): Settings {
  return {
    shows_personal_data: showsPersonalData ? 'true' : 'false',
    ...(kind === 'webhook' && template.trim() !== '' ? { template } : {}),
  }
}

/** Where the messages of the draft go, in one line above the preview. */
function targetOf({ kind, name, to, url }: Draft): string {
  const addresses = to.trim().replaceAll(/\s*\n\s*/g, ', ')
  if (kind === 'email') return addresses === '' ? '' : `To: ${addresses}`
  if (kind === 'webhook') return url.trim() === '' ? '' : `POST ${url.trim()}`
  return name
}
