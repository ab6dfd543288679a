/**
 * Preloaded into each service that the launcher starts (`node --import`): when the launcher is gone, however it went,
 * the service drains as after a SIGTERM. Without this a kill -9 of the launcher would leave services behind that hold
 * their ports and work on. The service itself knows nothing of it.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// Waiting for this is no reason to stay alive.
process.channel?.unref()
