import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/screens.css';
import './styles/paper.css';
import './styles/print.css';
import { PiniaColada } from '@pinia/colada';
import { createPinia } from 'pinia';
import { createApp } from 'vue';
import App from './App.vue';
import { i18n } from './i18n/i18n.ts';
import { followAddress, router } from './router.ts';

createApp(App)
  .use(createPinia())
  // Live updates keep data fresh, so nothing becomes stale with time.
  .use(PiniaColada, { queryOptions: { staleTime: Infinity, refetchOnWindowFocus: false } })
  .use(i18n)
  .use(router)
  .mount('#app');
void followAddress();
