import type { AlertChannel } from '@backstop/client'
import { Button, Modal } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { channelList, channelQuery } from '../../api/channels.ts'
import { api } from '../../api/client.ts'
import { mergeIntoLists } from '../../api/list-cache.ts'
import { Problem } from '../../parts/problem.tsx'

/** Switches a channel on or off. The same button undoes it, so the page shows the new state at once. */
export function EnableSwitch({ channel }: { channel: AlertChannel }) {
  const queryClient = useQueryClient()
  const { queryKey } = channelQuery(channel.channel_id)
  const change = useMutation({
    mutationFn: (enabled: boolean) => api.alertChannels.change(channel.channel_id, { enabled }),
    onMutate: enabled => queryClient.setQueryData(queryKey, old => old && { ...old, enabled }),
    onSuccess: changed => {
      queryClient.setQueryData(queryKey, changed)
      mergeIntoLists(queryClient, channelList, changed)
    },
    onError: () => queryClient.invalidateQueries({ queryKey }),
  })
  return (
    <>
      <Button variant="default" disabled={change.isPending} onClick={() => change.mutate(!channel.enabled)}>
        {channel.enabled ? 'Switch off' : channel.health.state === 'disabled' ? 'Enable again' : 'Switch on'}
      </Button>
      <Modal
        opened={change.error !== null}
        onClose={change.reset}
        title={`“${channel.name}” was not switched ${change.variables === true ? 'on' : 'off'}`}
      >
        {change.error !== null && <Problem error={change.error} what="Nothing was changed" />}
      </Modal>
    </>
  )
}
